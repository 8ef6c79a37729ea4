import { setTimeout as sleep } from 'node:timers/promises';

const POLL_INTERVAL_MS = 25;
/** A look that asks a server costs more than the wait, and tests run side by side. */
const LONGEST_INTERVAL_MS = 150;
const GROWTH = 1.3;

/** Looks again until it holds; the test's own time-out is the limit. A look that is answered later is repeated less and less often. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let pause = POLL_INTERVAL_MS; ;) {
    const answer = holds();
    if (await answer) return;
    await sleep(pause);
    if (answer !== false) pause = Math.min(pause * GROWTH, LONGEST_INTERVAL_MS);
  }
}

/** Numbers in [0, 1), the same for the same seed (mulberry32): a failure found once can be had again. */
export function seededChance(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
