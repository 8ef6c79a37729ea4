import { relative, sep } from 'node:path';
import type { TestProject } from 'vitest/node';

type SetUp = () => Promise<{ setup(project: TestProject): Promise<() => Promise<void>> }>;

// A run loads only what it starts.
const postgres: SetUp = () => import('./global-postgres.ts');
const temporal: SetUp = () => import('./global-temporal.ts');
const workflowBundle: SetUp = () => import('./global-workflow-bundle.ts');
const build: SetUp = () => import('./global-build.ts');
/** What tests need that run Lote as a whole. */
const ALL: readonly SetUp[] = [postgres, temporal, workflowBundle, build];

/** What the files of each folder of `test` share, by its path or its first part; a folder that is not named needs nothing. */
const SHARED: Readonly<Record<string, readonly SetUp[]>> = {
  'contract/ledger': [postgres],
  contract: [postgres, temporal],
  deployment: [postgres],
  workflow: [postgres, temporal, workflowBundle],
  e2e: ALL,
  chaos: ALL,
  browser: ALL,
};

/** Vitest's global set-up: starts what the files of this run need, and nothing else. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const ends = await Promise.all([...neededBy(project)].map(async (load) => (await load()).setup(project)));
  return async () => {
    await Promise.all(ends.map((end) => end()));
  };
}

function neededBy({ vitest, config }: TestProject): ReadonlySet<SetUp> {
  // Whoever watches may ask for any file later.
  if (vitest.config.watch) return new Set(ALL);
  return new Set(
    vitest.state.getPaths().flatMap((path) => {
      const [, folder = '', part = ''] = relative(config.root, path).split(sep);
      return SHARED[`${folder}/${part}`] ?? SHARED[folder] ?? [];
    }),
  );
}
