import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { COMPILED, onCompiledProduct } from './test/compiled-product.ts';
import { LONG_FILES } from './test/long-files.ts';
import { temporaryFiles } from './test/temporary-files.ts';

const files = temporaryFiles(process.env);
/** Workers, and processes that tests start, inherit it. */
process.env['TMPDIR'] = files.directory;

/**
 * Tests of batches and whole processes wait for time-outs and restarts most of their time. All projects share the workers, so that tests that compute run
 * while others wait. With ten files at a time each process waits for a core, and what takes a second alone takes ten: seven
 * leave time for those that must answer. Where memory is short, or files wait for a disk, fewer run at a time.
 */
const MAX_WORKERS = files.inMemory ? 7 : 3;
/** Long files start many processes each, and whatever must answer in time shares the cores with them. */
const LONG_WORKERS = files.inMemory ? 5 : 3;
/** Tests without servers only compute. Each worker loads the product for itself, so that more workers than cores compute longer. */
const COMPUTING_WORKERS = 3;

/** It finds what hangs, and nothing else: on two cores with a load of thirty, stacks side by side that take a minute alone took five. */
const TEST_TIMEOUT_MS = 600_000;

/** What is looked for again and again has most of the time of its test, and not a second as by default: it ends when it comes, however slow the machine is. */
const POLL_TIMEOUT_MS = 500_000;

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
  // Go builds helm for it, for minutes, and promtool computes for long: no other run has it.
  project('deployment', ['deployment']),
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

/** `npm run test:long`: the long files alone, on the compiled product. */
const LONG = 'long';

/** Longest first, in the order of their list. */
class LongestFirst extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification) => LONG_FILES.findIndex((file) => moduleId.endsWith(`/${file}`));
    return Promise.resolve(files.toSorted((a, b) => placeOf(a) - placeOf(b)));
  }
}

function projectsOf(mode: string) {
  switch (mode) {
    case COMPILED:
      return projects.map((one) => onCompiledProduct({ ...one, test: { ...one.test, exclude: [...LONG_FILES] } }));
    case LONG: {
      const long = project('long', [], LONG_WORKERS);
      return [onCompiledProduct({ ...long, test: { ...long.test, include: [...LONG_FILES] } })];
    }
    default:
      return projects;
  }
}

export default defineConfig(({ mode }) => ({
  test: {
    // A build leaves compiled copies of everything in dist/.
    exclude: [...configDefaults.exclude, 'dist/**'],
    projects: projectsOf(mode),
    pool: 'forks',
    // Files of a project share the modules of their worker: most of the time of small tests went into loading them again. A test that changes what a
    // module or the process holds puts it back.
    isolate: false,
    sequence: mode === LONG ? { sequencer: LongestFirst } : {},
    testTimeout: TEST_TIMEOUT_MS,
    hookTimeout: TEST_TIMEOUT_MS,
    expect: { poll: { timeout: POLL_TIMEOUT_MS } },
    coverage: { provider: 'v8', include: ['src/**', 'workflows/**', 'activities/**'], reportsDirectory: 'coverage' },
  },
}));
