import { setTimeout as sleep } from 'node:timers/promises';

const POLL_INTERVAL_MS = 25;
/** Limits the load of checks that ask a server: such a check costs more than the wait, and tests run side by side. */
const LONGEST_INTERVAL_MS = 150;
const GROWTH = 1.3;

/** Checks until the condition holds; the test's time-out is the limit. Asynchronous checks get rarer with time. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let pause = POLL_INTERVAL_MS; ;) {
    const answer = holds();
    if (await answer) return;
    await sleep(pause);
    if (answer !== false) pause = Math.min(pause * GROWTH, LONGEST_INTERVAL_MS);
  }
}

/** Checks until the condition holds, or the promise has settled. Returns whether the condition holds. */
export async function untilOr(end: Promise<unknown>, holds: () => boolean | Promise<boolean>): Promise<boolean> {
  let isOver = false;
  void end.then(
    () => (isOver = true),
    () => (isOver = true),
  );
  await until(async () => isOver || (await holds()));
  return holds();
}

/** Makes numbers in [0, 1), the same for the same seed (mulberry32), so that a failure can be reproduced. */
export function seededChance(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
