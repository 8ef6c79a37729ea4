import { configDefaults, defineConfig } from 'vitest/config';

/** Temporal, PostgreSQL and the tests share one small machine: more than two workers only make each slower. */
const MAX_WORKERS = 2;

/** Real servers start inside tests; a first PGlite directory alone takes 2.5 s on two cores, and more when both are busy. */
const TEST_TIMEOUT_MS = 60_000;

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // A build leaves compiled copies of everything in dist/.
    exclude: [...configDefaults.exclude, 'dist/**'],
    // One PostgreSQL and one Temporal server per run; each file takes a schema or a namespace of its own.
    globalSetup: [
      'test/support/servers/global-postgres.ts',
      'test/support/servers/global-temporal.ts',
      'test/support/servers/global-workflow-bundle.ts',
    ],
    pool: 'forks',
    maxWorkers: MAX_WORKERS,
    testTimeout: TEST_TIMEOUT_MS,
    hookTimeout: TEST_TIMEOUT_MS,
    coverage: { provider: 'v8', include: ['src/**', 'workflows/**', 'activities/**'], reportsDirectory: 'coverage' },
  },
});
