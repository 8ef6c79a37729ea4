import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { CrashCase } from '../../support/crash/crash-case.ts';
import { crashLane, type CrashLane } from '../../support/crash/crash-lane.ts';
import { HELD } from '../../support/crash/crash-matrix.ts';

/** One of each kind; `npm run test:chaos` has every point of both processes, and all three victims at each. */
const CASES: readonly CrashCase[] = [
  { part: 'receiver', point: 'event-recorded:2', victim: 'itself' },
  { part: 'worker', point: 'before-answer-recorded:5', victim: 'database' },
  { part: 'worker', point: 'after-post:9', victim: 'itself' },
  { part: 'worker', point: 'before-page-close', victim: 'temporal' },
];

describe.skipIf(inject('postgresUrl') === null)('the distributed form', { timeout: 300_000 }, () => {
  let lane: CrashLane | null;

  beforeAll(async () => {
    lane = await crashLane();
  }, 120_000);

  afterAll(() => lane?.remove());

  it.each(CASES)('survives the end of $victim when its $part is at $point', async (crash) => {
    const end = await lane?.surviveOne(crash);

    expect(end?.verdict).toBe(HELD);
    expect(end?.posts).toBeGreaterThan(0);
  });
});
