import { setTimeout as sleep } from 'node:timers/promises';

const POLL_INTERVAL_MS = 25;

/** Looks again until it holds; the test's own time-out is the limit. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await sleep(POLL_INTERVAL_MS);
}
