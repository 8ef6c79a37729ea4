import { CancellationScope, condition, sleep } from '@temporalio/workflow';

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
