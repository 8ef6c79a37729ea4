import { afterEach, describe, expect, it, vi } from 'vitest';
import { exitCodeOf } from '../../../../src/cli/output/exit-codes.ts';
import { interruption, type Interruption } from '../../../../src/cli/session/interruption.ts';

const SIGNALS = ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP'] as const;
const before = new Map(SIGNALS.map((signal) => [signal, new Set(process.listeners(signal))]));
let open: Interruption;

/** Does what the process would do at a signal, without sending one to the test runner. */
function signal(name: (typeof SIGNALS)[number]): void {
  for (const listener of process.listeners(name)) if (before.get(name)?.has(listener) === false) listener(name);
}

/** Opens an interruption, and returns the exits of the process, with what it did before. */
function opened(): readonly unknown[] {
  const order: unknown[] = [];
  vi.spyOn(process, 'exit').mockImplementation((code) => void order.push(code) as never);
  open = interruption(
    () => 'Interrupted: the workers go on.',
    () => void order.push('killed'),
  );
  return order;
}

afterEach(() => {
  open.end();
  vi.restoreAllMocks();
});

describe('an interruption', () => {
  it.each(SIGNALS)('by %s ends the command in order: its sentence, exit code 130', async (name) => {
    const order = opened();
    open.begin();

    signal(name);
    await open.over;

    const error = await open.interrupted.catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'interrupted', message: 'Interrupted: the workers go on.' });
    expect(exitCodeOf(error)).toBe(130);
    expect(order).toEqual([]);
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s ends the command at once the second time, or before there is work', (name, exitCode) => {
    const twice = opened();
    open.begin();
    signal(name);
    expect(twice).toEqual([]);
    signal(name);
    open.end();
    const early = opened();
    signal(name);

    expect([twice, early]).toEqual([
      ['killed', exitCode],
      ['killed', exitCode],
    ]);
  });

  it('is not listened for any more when the command has ended', () => {
    const counts = (): readonly number[] => SIGNALS.map((name) => process.listenerCount(name));
    const free = counts();

    opened();
    open.end();

    expect(counts()).toEqual(free);
  });

  it('that is not awaited does not end the process as an unhandled rejection', async () => {
    const unhandled: unknown[] = [];
    const listener = (reason: unknown): void => void unhandled.push(reason);
    process.on('unhandledRejection', listener);
    opened();
    open.begin();

    signal('SIGINT');
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', listener);

    expect(unhandled).toEqual([]);
  });
});
