import { defineConfig, mergeConfig } from 'vitest/config';
import base from './vitest.config.ts';

/** The long matrices: an hour and more. `npm run test:chaos`; CHAOS_SEED repeats a run. */
export default mergeConfig(
  { ...base, test: { ...base.test, include: [] } },
  defineConfig({ test: { include: ['test/chaos/**/*.chaos.ts'], maxWorkers: 1, testTimeout: 15 * 60_000 } }),
);
