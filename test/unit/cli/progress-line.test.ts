import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { progressLine } from '../../../src/cli/progress-line.ts';
import type { BatchProgress } from '../../../workflows/messages.ts';

const PROGRESS: BatchProgress = {
  ...{ batchId: 'batch-a', phase: 'sending', paused: false, cancelled: false, invoices: 100 },
  ...{ pages: 1, pagesSent: 0, pagesDone: 0, pagesFailed: 0, waitingFor: null },
};

/** A stream that remembers what was written to it. */
function screen(isTTY: boolean): { out: NodeJS.WriteStream; text(): string } {
  let text = '';
  const out = { isTTY, write: (more: string) => Boolean((text += more)) };
  return { out: out as unknown as NodeJS.WriteStream, text: () => text };
}

function lineOf(over: Partial<BatchProgress>, atRest: number): string {
  const { out, text } = screen(false);
  progressLine(out).show('batch-a', { ...PROGRESS, ...over }, atRest);
  return text();
}

describe('the line of progress', () => {
  it.each([
    ['nothing is done', {}, 0, 'batch-a [------------------------] 0/100 at rest, sending\n'],
    ['half is done', {}, 50, 'batch-a [############------------] 50/100 at rest, sending\n'],
    ['all is done', { phase: 'done' }, 100, 'batch-a [########################] 100/100 at rest, done\n'],
    [
      'it is not known yet how many there are',
      { phase: 'reading', invoices: 0 },
      0,
      'batch-a [------------------------] 0/0 at rest, reading\n',
    ],
    [
      'more came to rest than were known when it was asked',
      {},
      101,
      'batch-a [########################] 101/100 at rest, sending\n',
    ],
    [
      'the service is waited for',
      { phase: 'waiting', waitingFor: 'http-503' },
      0,
      'batch-a [------------------------] 0/100 at rest, waiting, waits: http-503\n',
    ],
    [
      'an operator paused it',
      { paused: true },
      4,
      'batch-a [#-----------------------] 4/100 at rest, sending, PAUSED (resume it in the Temporal UI)\n',
    ],
    [
      'it is paused and waits',
      { paused: true, waitingFor: 'paused' },
      0,
      'batch-a [------------------------] 0/100 at rest, sending, waits: paused, PAUSED (resume it in the Temporal UI)\n',
    ],
  ] as const)('when %s', (_, over, atRest, line) => {
    expect(lineOf(over, atRest)).toBe(line);
  });

  it('has a bar of one width, whatever the numbers', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), (invoices, atRest) => {
        expect(/\[(#*-*)\]/.exec(lineOf({ invoices }, atRest))?.[1]).toHaveLength(24);
      }),
    );
  });
});

describe('progress in a log', () => {
  it('is a line each time something changed, and none while nothing does', () => {
    const { out, text } = screen(false);
    const line = progressLine(out);

    line.show('batch-a', PROGRESS, 1);
    line.show('batch-a', PROGRESS, 1);
    line.show('batch-a', PROGRESS, 2);
    line.say('batch-a: waits for Temporal, which does not answer');
    line.say('batch-a: waits for Temporal, which does not answer');
    line.show('batch-a', PROGRESS, 2);
    line.end();

    expect(text().split('\n')).toEqual([
      expect.stringContaining('1/100'),
      expect.stringContaining('2/100'),
      'batch-a: waits for Temporal, which does not answer',
      expect.stringContaining('2/100'),
      '',
    ]);
  });
});

describe('progress on a terminal', () => {
  it('redraws one line, and leaves it complete on the screen at the end', () => {
    const { out, text } = screen(true);
    const line = progressLine(out);

    line.say('one');
    line.say('two');
    line.end();

    expect(text()).toBe('\r\u001B[2Kone\r\u001B[2Ktwo\n');
  });

  it('leaves nothing on the screen when there was nothing to show', () => {
    const { out, text } = screen(true);

    progressLine(out).end();

    expect(text()).toBe('');
  });
});
