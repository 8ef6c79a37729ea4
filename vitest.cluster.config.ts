import { defineConfig } from 'vitest/config';

/** One batch with a fault in it, on a busy machine. */
const TEST_TIMEOUT_MS = 15 * 60_000;

/** The distributed form on a real Temporal server. `npm run test:cluster`; CLUSTER_INVOICES sets the size of each batch. */
export default defineConfig({
  test: {
    include: ['test/cluster/**/*.cluster.ts'],
    globalSetup: ['test/support/servers/global-build.ts'],
    pool: 'forks',
    // Each test goes on where the one before ended.
    bail: 1,
    testTimeout: TEST_TIMEOUT_MS,
    hookTimeout: TEST_TIMEOUT_MS,
  },
});
