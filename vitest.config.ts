import { configDefaults, defineConfig } from 'vitest/config';
import { LongestFirst } from './test/longest-first.ts';
import { temporaryFiles } from './test/temporary-files.ts';

const files = temporaryFiles(process.env);
/** Workers, and processes that tests start, inherit it. */
process.env['TMPDIR'] = files.directory;

/**
 * Tests of batches and whole processes wait for time-outs and restarts more than half of their time: two cores have work for five files. All projects
 * share the workers, so that tests that compute run while others wait. Where memory is short, or files wait for a disk, fewer run at a time.
 */
const MAX_WORKERS = files.inMemory ? 7 : 3;
/** Tests of `unit` only compute. Each worker loads the product for itself, so that more workers than cores compute longer. */
const UNIT_WORKERS = 3;

/** It finds what hangs, and nothing else: a test that computes for five seconds took more than a minute on two cores with a load of fifty. */
const TEST_TIMEOUT_MS = 180_000;

const POSTGRES = 'test/support/servers/global-postgres.ts';
const TEMPORAL = 'test/support/servers/global-temporal.ts';
const WORKFLOW_BUNDLE = 'test/support/servers/global-workflow-bundle.ts';
/** The product compiled, for tests that start it as a process. */
const BUILD = 'test/support/servers/global-build.ts';
/** What tests need that run Lote as a whole. */
export const ALL_SERVERS = [POSTGRES, TEMPORAL, WORKFLOW_BUNDLE, BUILD];

/** One folder of tests, and the servers that they share; all projects of a run share one of each. */
function project(name: string, folders: readonly string[], globalSetup: string[], maxWorkers = MAX_WORKERS) {
  return {
    extends: true as const,
    test: {
      name,
      include: folders.map((folder) => `test/${folder}/**/*.test.ts`),
      globalSetup,
      maxWorkers,
      // Vitest runs projects with other numbers of workers one after the other; the short files of `unit` leave no core idle at their end.
      sequence: { groupOrder: maxWorkers === MAX_WORKERS ? 1 : 0 },
    },
  };
}

export default defineConfig({
  test: {
    // A build leaves compiled copies of everything in dist/.
    exclude: [...configDefaults.exclude, 'dist/**'],
    projects: [
      project('unit', ['unit'], [], UNIT_WORKERS),
      project('contract', ['contract', 'property'], [POSTGRES, TEMPORAL]),
      project('workflow', ['workflow'], [POSTGRES, TEMPORAL, WORKFLOW_BUNDLE]),
      project('e2e', ['e2e', 'chaos'], ALL_SERVERS),
      project('browser', ['browser'], ALL_SERVERS),
    ],
    pool: 'forks',
    // Files of a project share the modules of their worker: most of the time of small tests went into loading them again. A test that changes what a
    // module or the process holds puts it back.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    testTimeout: TEST_TIMEOUT_MS,
    hookTimeout: TEST_TIMEOUT_MS,
    coverage: { provider: 'v8', include: ['src/**', 'workflows/**', 'activities/**'], reportsDirectory: 'coverage' },
  },
});
