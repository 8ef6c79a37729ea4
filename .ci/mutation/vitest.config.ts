import { defineConfig } from 'vitest/config';

const include = (process.env['MUTATION_TESTS'] ?? '').split(',');
const without = (process.env['MUTATION_WITHOUT'] ?? '').split(',').filter((pattern) => pattern !== '');

/** Tests of `npm run mutate`: one process for each file, one after the other, for the results are shared. */
export default defineConfig({
  test: {
    include,
    exclude: [...without, ...(process.env['MUTATION_STAGE'] === 'static' ? ['**/*.property.test.ts'] : [])],
    runner: '.ci/mutation/runner.ts',
    globalSetup: include.some((pattern) => pattern.startsWith('test/contract/'))
      ? ['test/support/servers/global-servers.ts']
      : [],
    pool: 'forks',
    fileParallelism: false,
    silent: true,
    reporters: ['dot'],
    // A mutant may leave a test waiting for ever.
    testTimeout: 10_000,
    hookTimeout: 60_000,
  },
});
