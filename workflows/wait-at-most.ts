import { CancellationScope, condition, sleep, workflowInfo } from '@temporalio/workflow';

/** Waits until the condition holds or the time is over, with a labelled timer: the timer of Temporal's `condition` has no label. */
export async function waitAtMost(
  ms: number,
  { summary, until }: { readonly summary: string; readonly until: () => boolean },
): Promise<void> {
  if (until()) return;
  // The scope cancels the loser of the race.
  const race = new CancellationScope();
  await race.run(() => Promise.race([sleep(ms, { summary }), condition(until)]));
  race.cancel();
}

const MINUTE_MS = 60_000;
/** In a wait of days, each wait is a twentieth of the elapsed time: 24 days are some 25,000 events. */
const LATER_SHARE = 20;

/**
 * Returns a function that gives the next wait in milliseconds: `firstMs`, then twice as long each time up to
 * `longestMs`. Later, a wait may grow to a twentieth of the time since `began`, at most `latestMs`.
 */
export function growingWait({
  firstMs,
  longestMs = MINUTE_MS,
  latestMs = 15 * MINUTE_MS,
  began = Date.now(),
}: {
  readonly firstMs: number;
  readonly longestMs?: number;
  readonly latestMs?: number;
  readonly began?: number;
}): () => number {
  let next = firstMs;
  return () => {
    const wait = next;
    next = Math.min(next * 2, Math.max(longestMs, (Date.now() - began) / LATER_SHARE), latestMs);
    return wait;
  };
}

/**
 * Temporal ends a run at 51,200 events. A waiting run looks again and again, at 11 to 15 events each time. From this
 * number of events on, it continues in a new run: an ordinary page needs fewer, and they are few to replay.
 */
const MOST_EVENTS = 2_000;

/** Call this only when nothing is under way. */
export function historyIsLong(): boolean {
  return workflowInfo().historyLength >= MOST_EVENTS;
}
