import { afterEach, describe, expect, it, vi } from 'vitest';
import { exitCodeOf } from '../../../../src/cli/output/exit-codes.ts';
import { interruption, type Interruption } from '../../../../src/cli/session/interruption.ts';

const SIGNALS = ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP'] as const;
const before = new Map(SIGNALS.map((signal) => [signal, new Set(process.listeners(signal))]));
let open: Interruption | null = null;

/** What the process would do at a signal, without sending one to the test runner. */
function signal(name: (typeof SIGNALS)[number]): void {
  for (const listener of process.listeners(name)) if (before.get(name)?.has(listener) === false) listener(name);
}

/** The exits of the process, with what it did before. */
function leftAt() {
  const order: unknown[] = [];
  vi.spyOn(process, 'exit').mockImplementation((code) => void order.push(code) as never);
  return { order, kill: () => void order.push('killed') };
}

/** With work in hand from the beginning. */
function begun(...options: Parameters<typeof interruption>): Interruption {
  const interrupt = interruption(...options);
  interrupt.begin();
  return interrupt;
}

afterEach(() => {
  open?.end();
  open = null;
  for (const name of SIGNALS)
    for (const listener of process.listeners(name))
      if (before.get(name)?.has(listener) === false) process.off(name, listener);
  vi.restoreAllMocks();
});

describe('an interruption', () => {
  it.each(SIGNALS)('by %s ends the command in order: its sentence, exit code 130', async (name) => {
    open = begun(() => 'Interrupted: the workers go on.');

    signal(name);

    const error = await open.interrupted.catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'interrupted', message: 'Interrupted: the workers go on.' });
    expect(exitCodeOf(error)).toBe(130);
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('that comes twice leaves at once, after what must not stay behind: %s', (name, exitCode) => {
    const { order, kill } = leftAt();
    open = begun(() => 'Interrupted', kill);

    signal(name);
    expect(order).toEqual([]);
    signal(name);

    expect(order).toEqual(['killed', exitCode]);
  });

  it('is not listened for any more when the command has ended', () => {
    const counts = (): readonly number[] => SIGNALS.map((name) => process.listenerCount(name));
    const free = counts();

    begun(() => 'Interrupted').end();

    expect(counts()).toEqual(free);
  });

  it('ends the command at once before there is work, after what must not stay behind', () => {
    const { order, kill } = leftAt();
    open = interruption(() => 'Interrupted', kill);

    signal('SIGTERM');

    expect(order).toEqual(['killed', 143]);
  });

  it('that is not awaited does not end the process as an unhandled rejection', async () => {
    const unhandled: unknown[] = [];
    const listener = (reason: unknown): void => void unhandled.push(reason);
    process.on('unhandledRejection', listener);
    open = begun(() => 'Interrupted');

    signal('SIGINT');
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', listener);

    expect(unhandled).toEqual([]);
  });
});

describe('a command that stays until a signal', () => {
  it('goes on after the first one, to its own end', async () => {
    const { order } = leftAt();
    open = begun();

    signal('SIGTERM');
    await open.over;

    expect(order).toEqual([]);
  });
});
