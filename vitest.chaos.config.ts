import { defineConfig, mergeConfig } from 'vitest/config';
import base from './vitest.config.ts';

/** Nights and crashes are mostly waiting: for time-outs, for heartbeats of what was killed. More at once than this and a small machine is too busy to hold them. */
const CASES_AT_ONCE = 4;

/** The long matrices. `npm run test:chaos`; CHAOS_SEED repeats a run. */
export default mergeConfig(
  { ...base, test: { ...base.test, include: [] } },
  defineConfig({
    test: {
      include: ['test/chaos/**/*.chaos.ts'],
      maxWorkers: 1,
      maxConcurrency: CASES_AT_ONCE,
      testTimeout: 15 * 60_000,
    },
  }),
);
