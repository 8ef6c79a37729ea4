import { describe, expect, it } from 'vitest';
import { progressLine, type ProgressPlace } from '../../../../src/cli/output/progress-line.ts';

const SENDING = { phase: 'sending', paused: false, invoices: 1_000, waitingFor: null };

const CLEAR = '\r\u001B[2K';

function terminal(over: { isTTY?: boolean; columns?: number; env?: ProgressPlace['env'] } = {}) {
  let now = 0;
  let text = '';
  const line = progressLine({
    out: { isTTY: over.isTTY ?? true, columns: over.columns ?? 120, write: (more) => (text += more) },
    env: over.env ?? {},
    now: () => now,
  });
  return {
    line,
    wait: (ms: number) => (now += ms),
    get text() {
      return text;
    },
    get drawn() {
      return text.split(CLEAR).at(-1);
    },
  };
}

describe('the line of progress on a terminal', () => {
  it('redraws itself with the count and, after a while, the rate and the time left', () => {
    const screen = terminal();

    screen.line.show('may', SENDING, 0);
    expect(screen.drawn).toBe('may: 0/1000 at rest, sending');
    screen.wait(5_000);
    screen.line.show('may', SENDING, 500);

    expect(screen.drawn).toBe('may: 500/1000 at rest, 100/s, 5s left, sending');
    expect(screen.text).not.toContain('\n');
  });

  it('follows a service that slows down, and says nothing of time while nothing moves', () => {
    const screen = terminal();
    screen.line.show('may', SENDING, 0);
    screen.wait(10_000);
    screen.line.show('may', SENDING, 500);
    screen.wait(20_000);
    screen.line.show('may', SENDING, 502);
    expect(screen.drawn).toContain('0.1/s, 1h 23m left');

    screen.wait(30_000);
    screen.line.show('may', SENDING, 502);

    expect(screen.drawn).not.toContain('left');
  });

  it('says why it stands still, without a guess at the time', () => {
    const screen = terminal({ columns: 200 });
    screen.line.show('may', SENDING, 0);
    screen.wait(5_000);

    screen.line.show('may', { ...SENDING, waitingFor: 'http-503' }, 500);
    expect(screen.drawn).toMatch(/500\/1000 at rest, sending, waits: http-503$/);
    screen.line.show('may', { ...SENDING, paused: true }, 500);

    expect(screen.drawn).toContain('PAUSED (resume it in the console or the Temporal UI)');
    expect(screen.drawn).not.toContain('left');
  });

  it('never wraps: a line that wraps cannot be taken back', () => {
    const screen = terminal({ columns: 40 });

    screen.line.show('a-file-with-a-long-name', SENDING, 0);

    expect(screen.drawn).toMatch(/^.{38}…$/u);
  });

  it('counts on from nothing when a retry lets some go again', () => {
    const screen = terminal();
    screen.line.show('may', SENDING, 900);
    screen.wait(5_000);

    screen.line.show('may', SENDING, 100);

    expect(screen.drawn).toBe('may: 100/1000 at rest, sending');
  });

  it('leaves the line when it ends', () => {
    const screen = terminal();

    screen.line.show('may', { ...SENDING, invoices: 0, phase: 'reading' }, 0);
    screen.line.end();

    expect(screen.text.endsWith('0/0 at rest, reading\n')).toBe(true);
  });
});

describe('the line of progress elsewhere', () => {
  it.each([
    ['a pipe', { isTTY: false, env: {} }],
    ['a dumb terminal', { isTTY: true, env: { TERM: 'dumb' } }],
  ])('is plain lines on %s: at once when something changes, else now and then', (_, place) => {
    const screen = terminal(place);

    for (let half = 0; half < 20; half += 1) {
      screen.line.show('may', SENDING, half * 10);
      screen.wait(500);
    }
    screen.line.show('may', { ...SENDING, phase: 'waiting' }, 300);
    screen.wait(15_000);
    screen.line.show('may', { ...SENDING, phase: 'waiting' }, 400);
    screen.line.end();

    expect(screen.text).toBe(
      'may: 0/1000 at rest, sending\nmay: 300/1000 at rest, 30/s, 23s left, waiting\nmay: 400/1000 at rest, 15/s, 40s left, waiting\n',
    );
  });

  it('says other things once', () => {
    const screen = terminal({ isTTY: false });

    screen.line.say('waits for Temporal');
    screen.line.say('waits for Temporal');

    expect(screen.text).toBe('waits for Temporal\n');
  });
});
