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

function leftAt(): { codes: readonly (number | string | null | undefined)[] } {
  const codes: (number | string | null | undefined)[] = [];
  vi.spyOn(process, 'exit').mockImplementation((code) => {
    codes.push(code);
    return undefined as never;
  });
  return { codes };
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
    const order: string[] = [];
    const { codes } = leftAt();
    open = begun(
      () => 'Interrupted',
      () => order.push(`killed, ${codes.length} exits so far`),
    );

    signal(name);
    const afterFirst = order.length;
    signal(name);

    expect(afterFirst).toBe(0);
    expect(order).toEqual(['killed, 0 exits so far']);
    expect(codes).toEqual([exitCode]);
  });

  it('is not listened for any more when the command has ended', () => {
    const counts = (): readonly number[] => SIGNALS.map((name) => process.listenerCount(name));
    const free = counts();

    begun(() => 'Interrupted').end();

    expect(counts()).toEqual(free);
  });

  it('ends the command at once before there is work, after what must not stay behind', () => {
    const order: string[] = [];
    const { codes } = leftAt();
    open = interruption(
      () => 'Interrupted',
      () => order.push(`killed, ${codes.length} exits so far`),
    );

    signal('SIGTERM');

    expect(order).toEqual(['killed, 0 exits so far']);
    expect(codes).toEqual([143]);
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
    const { codes } = leftAt();
    const { over, begin } = interruption();
    begin();

    signal('SIGTERM');
    await over;

    expect(codes).toEqual([]);
  });
});
