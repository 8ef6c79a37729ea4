import { configDefaults, defineConfig } from 'vitest/config';
import { COMPILED, onCompiledProduct } from './test/compiled-product.ts';
import { SideBySide } from './test/side-by-side.ts';
import { temporaryFiles } from './test/temporary-files.ts';

const files = temporaryFiles(process.env);
/** Workers, and processes that tests start, inherit it. */
process.env['TMPDIR'] = files.directory;

/**
 * Tests of batches and whole processes wait for time-outs and restarts most of their time. All projects share the workers, so that tests that compute run
 * while others wait. With ten files at a time two cores never wait, and each process waits for a core instead: what takes a second alone takes ten. Seven
 * leave some time for those that must answer. Where memory is short, or files wait for a disk, fewer run at a time.
 */
const MAX_WORKERS = files.inMemory ? 7 : 3;
/** Tests without servers only compute. Each worker loads the product for itself, so that more workers than cores compute longer. */
const COMPUTING_WORKERS = 3;

/** It finds what hangs, and nothing else: a test that computes for five seconds took more than a minute on two cores with a load of fifty. */
const TEST_TIMEOUT_MS = 180_000;

/** What is looked for again and again has most of the time of its test, and not a second as by default: it ends when it comes, however slow the machine is. */
const POLL_TIMEOUT_MS = 150_000;

/** It starts what the files of a run need, once for all projects. */
export const SERVERS = 'test/support/servers/global-servers.ts';

function project(name: string, folders: readonly string[], maxWorkers = MAX_WORKERS) {
  return {
    extends: true as const,
    test: {
      name,
      include: folders.map((folder) => `test/${folder}/**/*.test.ts`),
      globalSetup: [SERVERS],
      maxWorkers,
      // Vitest runs projects with other numbers of workers one after the other; short files leave no core idle at the end of the first.
      sequence: { groupOrder: maxWorkers === MAX_WORKERS ? 1 : 0 },
    },
  };
}

/** `--project NAME` chooses one of these. */
const BY_KIND = [
  project('unit', ['unit'], COMPUTING_WORKERS),
  project('contract', ['contract', 'property']),
  project('workflow', ['workflow']),
  project('e2e', ['e2e', 'chaos']),
  project('browser', ['browser']),
];
/**
 * Any other run. A worker keeps the modules that it has loaded for the next file of its project alone: with the projects above, a whole run would load
 * the product 36 times.
 */
const BY_WORKERS = [
  project('computing', ['unit', 'property'], COMPUTING_WORKERS),
  project('served', ['contract', 'workflow', 'e2e', 'chaos', 'browser']),
];
const isProjectChosen = process.argv.some((word) => word.startsWith('--project'));
const projects = isProjectChosen ? BY_KIND : BY_WORKERS;

export default defineConfig(({ mode }) => ({
  test: {
    // A build leaves compiled copies of everything in dist/.
    exclude: [...configDefaults.exclude, 'dist/**'],
    projects: mode === COMPILED ? projects.map(onCompiledProduct) : projects,
    pool: 'forks',
    // Files of a project share the modules of their worker: most of the time of small tests went into loading them again. A test that changes what a
    // module or the process holds puts it back.
    isolate: false,
    sequence: { sequencer: SideBySide },
    testTimeout: TEST_TIMEOUT_MS,
    hookTimeout: TEST_TIMEOUT_MS,
    expect: { poll: { timeout: POLL_TIMEOUT_MS } },
    coverage: { provider: 'v8', include: ['src/**', 'workflows/**', 'activities/**'], reportsDirectory: 'coverage' },
  },
}));
