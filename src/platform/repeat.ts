import { setTimeout as sleep } from 'node:timers/promises';

/** What is repeated until it is stopped. */
export interface Repetition {
  /** Waits for a round that is under way, but not for one whose ledger or server does not answer. */
  stop(): Promise<void>;
}

/** A round that answers at all ends within this. */
const LAST_ROUND_MS = 1_000;

/**
 * Runs `round` again and again, with so many milliseconds between two rounds, and keeps no process alive. A round that
 * fails is followed by the next one: who looks at something says by itself that it is away.
 */
export function repeat(
  everyMs: number,
  round: (signal: AbortSignal) => Promise<void>,
  { firstAtOnce = true }: { readonly firstAtOnce?: boolean } = {},
): Repetition {
  const stopped = new AbortController();
  const { signal } = stopped;
  const pause = (): Promise<void> => sleep(everyMs, undefined, { ref: false, signal }).catch(() => undefined);
  const rounds = (async () => {
    if (!firstAtOnce) await pause();
    while (!signal.aborted) {
      await round(signal).catch(() => undefined);
      await pause();
    }
  })();
  return {
    async stop() {
      stopped.abort();
      await Promise.race([rounds, sleep(LAST_ROUND_MS, undefined, { ref: false })]);
    },
  };
}
