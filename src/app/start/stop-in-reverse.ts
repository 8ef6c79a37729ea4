import { setTimeout as sleep } from 'node:timers/promises';

/** Started parts, which stop in reverse order; a part that fails to stop does not block the others. */
export type StartedParts = ReturnType<typeof startedParts>;

/** Longer than a server waits for its open requests. */
const PATIENCE_MS = 10_000;

/** Creates an empty list. Logs a warning for a part that fails to stop or is late. */
export function startedParts(
  log: { warn(message: string, fields?: Record<string, unknown>): void },
  patienceMs = PATIENCE_MS,
) {
  const stops: (() => Promise<void>)[] = [];

  async function stopOne(name: string, stop: () => Promise<unknown>, patience: number | null): Promise<void> {
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
    /** Adds a part whose stop is awaited for some seconds only, because its ledger or server may not answer. */
    add: (name: string, stop: () => Promise<unknown>) => void stops.push(() => stopOne(name, stop, patienceMs)),
    /** Adds a part that other parts need, or that limits its own stop: the next part stops only after it has ended. */
    addToTheEnd: (name: string, stop: () => Promise<unknown>) => void stops.push(() => stopOne(name, stop, null)),
    async stop() {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      for (let stop = stops.pop(); stop !== undefined; stop = stops.pop()) await stop();
    },
  };
}
