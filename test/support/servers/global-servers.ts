import { relative, sep } from 'node:path';
import type { TestProject } from 'vitest/node';

type SetUp = () => Promise<{ setup(project: TestProject): Promise<() => Promise<void>> }>;

// Dynamic imports, so that a run loads only the servers that it starts.
const postgres: SetUp = () => import('./global-postgres.ts');
const temporal: SetUp = () => import('./global-temporal.ts');
const workflowBundle: SetUp = () => import('./global-workflow-bundle.ts');
const build: SetUp = () => import('./global-build.ts');
/** The set-ups for tests that run Lote as a whole. */
const ALL: readonly SetUp[] = [postgres, temporal, workflowBundle, build];

/** The set-ups that the files of each folder of `test` share, by its path or first part. Other folders need none. */
const SHARED: Readonly<Record<string, readonly SetUp[]>> = {
  'contract/ledger': [postgres],
  contract: [postgres, temporal],
  deployment: [postgres],
  workflow: [postgres, temporal, workflowBundle],
  e2e: ALL,
  chaos: ALL,
  browser: ALL,
};

/** Vitest's global set-up: starts only the set-ups that the files of this run need. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const ends = await Promise.all([...neededBy(project)].map(async (load) => (await load()).setup(project)));
  return async () => {
    await Promise.all(ends.map((end) => end()));
  };
}

function neededBy({ vitest, config }: TestProject): ReadonlySet<SetUp> {
  // In watch mode, a developer may run any file later.
  if (vitest.config.watch) return new Set(ALL);
  return new Set(
    vitest.state.getPaths().flatMap((path) => {
      const [, folder = '', part = ''] = relative(config.root, path).split(sep);
      return SHARED[`${folder}/${part}`] ?? SHARED[folder] ?? [];
    }),
  );
}
