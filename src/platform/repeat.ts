import { setTimeout as sleep } from 'node:timers/promises';

/** A task that runs repeatedly until it is stopped. */
export interface Repetition {
  /** Stops the rounds. Waits for the current round, but not if its ledger or server does not answer. */
  stop(): Promise<void>;
}

/** A round whose ledger or server answers ends within this time. */
const LAST_ROUND_MS = 1_000;

/**
 * Runs `round` repeatedly with `everyMs` milliseconds between two rounds, and does not keep the process alive. A failed
 * round does not stop the next one: a round itself reports a part that does not answer.
 */
export function repeat(everyMs: number, round: (signal: AbortSignal) => Promise<void>): Repetition {
  const stopped = new AbortController();
  const { signal } = stopped;
  const rounds = (async () => {
    while (!signal.aborted) {
      await round(signal).catch(() => undefined);
      await sleep(everyMs, undefined, { ref: false, signal }).catch(() => undefined);
    }
  })();
  return {
    async stop() {
      stopped.abort();
      await Promise.race([rounds, sleep(LAST_ROUND_MS, undefined, { ref: false })]);
    },
  };
}
