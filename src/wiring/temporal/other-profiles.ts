import { setTimeout as sleep } from 'node:timers/promises';
import { POLLED_WITHIN_MS, withOtherProfile, type QueuePoller } from './queue-pollers.ts';

const POLL_INTERVAL_MS = 2_000;

export interface OtherProfilesWatch {
  /** What `pollers` has just answered. */
  readonly first: readonly QueuePoller[];
  readonly pollers: () => Promise<readonly QueuePoller[]>;
  /** `profileMark` of this worker; null: nothing is compared. */
  readonly own: string | null;
  /** Between two looks; default 2 s. */
  readonly everyMs?: number;
  readonly log: { warn(message: string, fields?: Record<string, unknown>): void };
}

/** A watch that has begun. */
export interface OtherProfiles {
  /** Ends it early. */
  stop(): Promise<void>;
}

/**
 * Warns once when a worker of another service profile lives beside this one. A killed worker stays listed for minutes, often because the profile was
 * corrected meanwhile: so one counts that polls again within 90 s, by the server's own times.
 */
export function watchOtherProfiles({ first: listed, pollers, own, everyMs, log }: OtherProfilesWatch): OtherProfiles {
  const stopped = new AbortController();
  const watching = (async () => {
    const pause = everyMs ?? POLL_INTERVAL_MS;
    const first = othersOf(listed);
    for (let waited = 0; first.size > 0 && waited < POLLED_WITHIN_MS && !stopped.signal.aborted; waited += pause) {
      await sleep(pause, undefined, { ref: false, signal: stopped.signal }).catch(() => undefined);
      const again = [...othersOf(await pollers().catch(() => []))].filter(
        ([identity, at]) => at > (first.get(identity) ?? 0),
      );
      if (again.length === 0) continue;
      const workers = again.map(([identity]) => identity);
      log.warn('workers of this task queue have another service profile: give all the same file', { workers });
      return;
    }
  })();
  return {
    async stop() {
      stopped.abort();
      await watching;
    },
  };

  /** When each polled last, by its identity. */
  function othersOf(workers: readonly QueuePoller[]): ReadonlyMap<string, number> {
    if (own === null) return new Map();
    return new Map(withOtherProfile(workers, own).map(({ identity, lastPolledAt }) => [identity, lastPolledAt]));
  }
}
