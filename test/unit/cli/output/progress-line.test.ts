import { describe, expect, it } from 'vitest';
import { progressLine, type ProgressPlace } from '../../../../src/cli/output/progress-line.ts';

const SENDING = { phase: 'sending', paused: false, invoices: 1_000, waitingFor: null };

function terminal(over: { isTTY?: boolean; columns?: number; env?: ProgressPlace['env'] } = {}) {
  let now = 0;
  let text = '';
  const line = progressLine({
    out: { isTTY: over.isTTY ?? true, columns: over.columns ?? 200, write: (more) => (text += more) },
    env: over.env ?? {},
    now: () => now,
  });
  return {
    line,
    wait: (ms: number) => (now += ms),
    text: () => text,
    drawn: () => text.split('\r\u001B[2K').at(-1),
  };
}

describe('the line of progress on a terminal', () => {
  it('redraws itself with the count and, after a while, the rate and the time left, and leaves the line at its end', () => {
    const { line, wait, text, drawn } = terminal();

    line.show('may', SENDING, 0);
    expect(drawn()).toBe('may: 0/1000 at rest, sending');
    wait(5_000);
    line.show('may', SENDING, 500);

    expect(drawn()).toBe('may: 500/1000 at rest, 100/s, 5s left, sending');
    expect(text()).not.toContain('\n');
    line.end();
    expect(text()).toMatch(/sending\n$/u);
  });

  it('follows a service that slows down, and says nothing of time while nothing moves or counts fall', () => {
    const { line, wait, drawn } = terminal();
    line.show('may', SENDING, 0);
    wait(10_000);
    line.show('may', SENDING, 500);
    wait(20_000);
    line.show('may', SENDING, 502);
    expect(drawn()).toContain('0.1/s, 1h 23m left');

    wait(30_000);
    line.show('may', SENDING, 502);
    expect(drawn()).not.toContain('left');
    // A retry lets some go again.
    line.show('may', SENDING, 100);
    expect(drawn()).toBe('may: 100/1000 at rest, sending');
  });

  it('says why it stands still, without a guess at the time', () => {
    const { line, wait, drawn } = terminal();
    line.show('may', SENDING, 0);
    wait(5_000);

    line.show('may', { ...SENDING, waitingFor: 'http-503' }, 500);
    expect(drawn()).toMatch(/500\/1000 at rest, sending, waits: http-503$/);
    line.show('may', { ...SENDING, paused: true }, 500);
    expect(drawn()).toMatch(/sending, PAUSED \(resume it in the console or the Temporal UI\)$/);
  });

  it('never wraps: a line that wraps cannot be taken back', () => {
    const { line, drawn } = terminal({ columns: 40 });

    line.show('a-file-with-a-long-name', SENDING, 0);

    expect(drawn()).toMatch(/^.{38}…$/u);
  });
});

it.each([
  ['a pipe', { isTTY: false, env: {} }],
  ['a dumb terminal', { isTTY: true, env: { TERM: 'dumb' } }],
])('progress is plain lines on %s: at once when something changes, else now and then', (_, place) => {
  const { line, wait, text } = terminal(place);

  for (let half = 0; half < 20; half += 1) {
    line.show('may', SENDING, half * 10);
    wait(500);
  }
  line.show('may', { ...SENDING, phase: 'waiting' }, 300);
  wait(15_000);
  line.show('may', { ...SENDING, phase: 'waiting' }, 400);
  for (let times = 0; times < 2; times += 1) line.say('waits for Temporal');
  line.end();

  expect(text()).toBe(
    'may: 0/1000 at rest, sending\nmay: 300/1000 at rest, 30/s, 23s left, waiting\nmay: 400/1000 at rest, 15/s, 40s left, waiting\nwaits for Temporal\n',
  );
});
