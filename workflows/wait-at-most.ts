import { CancellationScope, condition, sleep, workflowInfo } from '@temporalio/workflow';

/** Waits until the condition holds or the time is over, with a labelled timer instead of condition's anonymous one. */
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

/**
 * Temporal ends a run at 51,200 events. A waiting run looks again and again, at 11 to 15 events each time, and continues
 * in a new run of the same workflow from this number on: more events than an ordinary page needs, and few to replay.
 */
const MOST_EVENTS = 2_000;

/** Call this only when nothing is under way. */
export function historyIsLong(): boolean {
  return workflowInfo().historyLength >= MOST_EVENTS;
}
