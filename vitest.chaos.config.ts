import { defineConfig } from 'vitest/config';
import { SERVERS } from './vitest.config.ts';

/** Nights and crashes are mostly waiting: for time-outs, for heartbeats of what was killed. More at once than this and a small machine is too busy to hold them. */
const CASES_AT_ONCE = 4;
const TEST_TIMEOUT_MS = 15 * 60_000;

/** The long matrices. `npm run test:chaos`; CHAOS_SEED repeats a run. */
export default defineConfig({
  test: {
    include: ['test/chaos/**/*.chaos.ts'],
    globalSetup: [SERVERS],
    pool: 'forks',
    maxWorkers: 1,
    maxConcurrency: CASES_AT_ONCE,
    testTimeout: TEST_TIMEOUT_MS,
    hookTimeout: TEST_TIMEOUT_MS,
  },
});
