import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { HELD, type CrashCase } from '../../support/crash/crash-case.ts';
import { crashLane, type CrashLane } from '../../support/crash/crash-lane.ts';

/** One of each kind; `npm run test:chaos` has every point of both processes, and all three victims at each. */
const ENDS: readonly CrashCase[] = [
  { part: 'receiver', point: 'event-recorded:2', victim: 'itself' },
  { part: 'worker', point: 'before-answer-recorded:5', victim: 'database' },
  { part: 'worker', point: 'after-post:9', victim: 'itself' },
  { part: 'worker', point: 'before-page-close', victim: 'temporal' },
];

describe.skipIf(inject('postgresUrl') === null)('the distributed form', () => {
  let lane: CrashLane | null;

  beforeAll(async () => {
    lane = await crashLane();
  });

  afterAll(() => lane?.remove());

  it.each(ENDS)('survives the end of $victim when its $part is at $point', async (crash) => {
    const end = await lane?.surviveOne(crash);

    expect(end?.verdict).toBe(HELD);
    expect(end?.posts).toBeGreaterThan(0);
  });
});

/** Longer than the heartbeat of a slice (30 s) and the time-out of a workflow task (10 s). `npm run test:chaos` has every point, for 70 s. */
const STOPPED_MS = 38_000;

const CASES: readonly CrashCase[] = [
  { part: 'worker', point: 'after-staged', victim: 'itself', awayMs: STOPPED_MS, workers: 2 },
  { part: 'worker', point: 'after-post:9', victim: 'itself', awayMs: STOPPED_MS, workers: 2 },
  { part: 'worker', point: 'before-answer-recorded:3', victim: 'itself', awayMs: STOPPED_MS, workers: 1 },
  { part: 'worker', point: 'after-freeze', victim: 'temporal', awayMs: STOPPED_MS, workers: 1 },
];

const TOLD_TO_END: CrashCase = {
  ...{ part: 'worker', point: 'after-freeze', victim: 'itself', awayMs: STOPPED_MS, workers: 2 },
  isToldToEnd: true,
};

/** They mostly wait, each on servers of its own where one of them is away. */
describe.skipIf(inject('postgresUrl') === null)('longer than every time-out of a batch', { concurrent: true }, () => {
  it.each(CASES)(
    '$victim is away at $part $point, of $workers workers: nothing is lost, double or cut',
    async (crash) => expectHeld(crash),
  );

  it('a worker stands still with frozen invoices, and hears SIGTERM when it goes on: nothing is lost, double or cut', async () =>
    expectHeld(TOLD_TO_END));
});

async function expectHeld(crash: CrashCase): Promise<void> {
  const lane = await crashLane({ linesEach: 3, ownServers: crash.victim !== 'itself' });
  try {
    const end = await lane?.surviveOne(crash);

    expect(end?.verdict).toBe(HELD);
  } finally {
    await lane?.remove();
  }
}
