import { repeat, type Repetition } from '../../concurrency/repeat.ts';
import { PATCHES } from '../../contract/patches.ts';
import type { QueuePoller } from './queue-pollers.ts';

const POLL_INTERVAL_MS = 5_000;

export interface SharedPatchesWatch {
  /** What `pollers` has just answered. */
  readonly first: readonly QueuePoller[];
  readonly pollers: () => Promise<readonly QueuePoller[]>;
  /** Between two looks; default 5 s. */
  readonly everyMs?: number;
  readonly log: { info(message: string, fields?: Record<string, unknown>): void };
}

/** Which patches of the workflows all workers of a task queue know. */
export interface SharedPatches extends Repetition {
  /** Whether a run may take the changed path now: every worker could go on with it. */
  isShared(name: string): boolean;
}

/**
 * Looks at the workers of a task queue until it is stopped. While an older worker polls there, runs keep to the path that it knows, so that each
 * worker can go on with each run. A killed worker stays listed for five minutes, and the path with it. Without an answer the last look counts.
 */
export function watchSharedPatches({ first, pollers, everyMs, log }: SharedPatchesWatch): SharedPatches {
  let shared = knownByAll(first);
  if (shared < PATCHES.length) log.info('an older worker is on the task queue: changed workflows wait for its end');
  const repetition = repeat(
    everyMs ?? POLL_INTERVAL_MS,
    async () => {
      const before = shared;
      shared = knownByAll(await pollers());
      if (before < shared && shared === PATCHES.length)
        log.info('no older worker is left on the task queue: changed workflows are in use');
    },
    { firstAtOnce: false },
  );
  return {
    isShared: (name) => PATCHES.findIndex((patch) => patch === name) < shared,
    stop: () => repetition.stop(),
  };
}

function knownByAll(pollers: readonly QueuePoller[]): number {
  return Math.min(PATCHES.length, ...pollers.flatMap(({ patches }) => patches ?? []));
}
