import { setTimeout as sleep } from 'node:timers/promises';

/** What was started, to be stopped in the reverse order; a part that fails to stop does not keep the others from it. */
export interface StartedParts {
  /** A part that is waited for, for some seconds: it may wait for a ledger or a server that does not answer. */
  add(name: string, stop: () => Promise<unknown>): void;
  /** A part whose end others rely on, or that bounds its end itself: nothing is stopped before it has ended. */
  addToTheEnd(name: string, stop: () => Promise<unknown>): void;
  stop(): Promise<void>;
}

interface Part {
  readonly name: string;
  readonly stop: () => Promise<unknown>;
  readonly patienceMs: number | null;
}

/** Longer than a server lets its requests end. */
const PATIENCE_MS = 10_000;

/** An empty list of started parts. A part that fails to stop, or does not stop in time, is logged as a warning. */
export function startedParts(
  log: { warn(message: string, fields?: Record<string, unknown>): void },
  patienceMs = PATIENCE_MS,
): StartedParts {
  const parts: Part[] = [];

  async function stopOne({ name, stop, patienceMs: patience }: Part): Promise<void> {
    const stopped = new AbortController();
    try {
      const inTime = stop().then(() => true);
      if (patience === null) await inTime;
      else if (!(await Promise.race([inTime, sleep(patience, false, { signal: stopped.signal })])))
        log.warn('a part did not stop in time', { part: name, waitedMs: patience });
    } catch (error) {
      log.warn('a part did not stop cleanly', { part: name, err: error });
    } finally {
      stopped.abort();
    }
  }

  return {
    add: (name, stop) => void parts.push({ name, stop, patienceMs }),
    addToTheEnd: (name, stop) => void parts.push({ name, stop, patienceMs: null }),
    async stop() {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      for (let part = parts.pop(); part !== undefined; part = parts.pop()) await stopOne(part);
    },
  };
}
