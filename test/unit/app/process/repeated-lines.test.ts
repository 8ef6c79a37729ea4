import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LoteError } from '../../../../src/domain/errors.ts';
import { createRepeatedLines } from '../../../../src/app/process/repeated-lines.ts';

interface Line {
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

function lines(): { readonly written: Line[]; say(message: string, fields?: Line['fields']): void } {
  const written: Line[] = [];
  const log = createRepeatedLines(60_000);
  return {
    written,
    say: (message, fields = {}) =>
      log({
        write: (text, notified) => void written.push({ message: text, fields: notified }),
        level: 'warn',
        message,
        fields,
      }),
  };
}

describe('lines that repeat', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('are written once at once, and then counted each minute, for as long as they come', () => {
    const { written, say } = lines();
    const err = new LoteError('ledger-unavailable', 'away');

    for (let at = 0; at < 16_000; at += 1) say('activity failed', { activity: 'submitSlice', attempt: at, err });
    expect(written).toEqual([{ message: 'activity failed', fields: { activity: 'submitSlice', attempt: 0, err } }]);
    vi.advanceTimersByTime(60_000);
    say('activity failed', { activity: 'submitSlice', attempt: 1, err });
    vi.advanceTimersByTime(60_000);

    const words = { activity: 'submitSlice', errKind: 'ledger-unavailable', withinSeconds: 60 };
    expect(written.slice(1)).toEqual([
      { message: 'activity failed', fields: { ...words, repeated: 15_999 } },
      { message: 'activity failed', fields: { ...words, repeated: 1 } },
    ]);
  });

  it('are new again after a minute of silence', () => {
    const { written, say } = lines();
    say('one');
    vi.advanceTimersByTime(60_000);
    say('one');

    expect(written).toHaveLength(2);
    vi.advanceTimersByTime(120_000);
    expect(written).toHaveLength(2);
  });

  it('are told apart by their words and by the kind of their error, not by numbers', () => {
    const { written, say } = lines();
    say('failed', { batch: 'a', attempt: 1 });
    say('failed', { batch: 'a', attempt: 2 });
    say('failed', { batch: 'b', attempt: 1 });
    say('failed', { batch: 'b', err: new TypeError('x') });
    say('failed', { batch: 'b', err: new LoteError('interlock', 'x') });

    expect(written).toHaveLength(4);
  });

  it('are written in full when more kinds come than can be remembered', () => {
    const { written, say } = lines();
    for (let round = 0; round < 2; round += 1) for (let kind = 0; kind < 600; kind += 1) say(`kind ${kind}`);

    expect(written).toHaveLength(700);
  });
});
