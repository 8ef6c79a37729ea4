import { CancellationScope, condition, sleep, workflowInfo } from '@temporalio/workflow';

/** Until the condition holds, or the time is over: by a timer with a label instead of condition's anonymous one. */
export async function waitAtMost(
  ms: number,
  { summary, until }: { readonly summary: string; readonly until: () => boolean },
): Promise<void> {
  if (until()) return;
  // The scope takes the loser of the race away.
  const race = new CancellationScope();
  await race.run(() => Promise.race([sleep(ms, { summary }), condition(until)]));
  race.cancel();
}

/**
 * Temporal ends a run at 51,200 events. A run that waits looks again and again, at 11 to 15 events each time, and from here on goes on in a new run
 * of the same workflow: more events than an ordinary page comes to, and few to replay.
 */
const MOST_EVENTS = 2_000;

/** Asked where nothing is under way. */
export function historyIsLong(): boolean {
  return workflowInfo().historyLength >= MOST_EVENTS;
}
