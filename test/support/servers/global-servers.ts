import { rmSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProvidedContext } from 'vitest';
import type { TestProject } from 'vitest/node';
import { setup as build, shareSetUp, type Started } from './global-build.ts';
import { take } from './own-port.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The PostgreSQL of the test run, with a schema for each test file; null if this machine has none. */
    postgresUrl: string | null;
    /** host:port of the run's only Temporal server; each test file uses its own namespace or task queue. */
    temporalAddress: string;
    /** Path of the workflows, bundled once for the test run: otherwise each worker would bundle them for seconds. */
    workflowBundle: string;
  }
}

type SetUp = (project: TestProject) => Promise<() => Promise<void>>;

// Imports of the product and of large packages are dynamic: a run loads only what it starts, and may compile the product first.
const postgres = provided('postgresUrl', startPostgres);
const temporal = provided('temporalAddress', startTemporal);
const workflowBundle = provided('workflowBundle', bundle);
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
  const ends = await Promise.all([...neededBy(project)].map((start) => start(project)));
  return async () => {
    await Promise.all(ends.map((end) => end()));
  };
}

function provided<Name extends keyof ProvidedContext>(
  name: Name,
  start: () => Promise<Started<ProvidedContext[Name]>>,
): SetUp {
  return async (project) => {
    const { value, release } = await shareSetUp(name, start);
    project.provide(name, value);
    return release;
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

/** Uses `TEST_DATABASE_URL`, or starts a private cluster from the machine's own binaries. */
async function startPostgres(): Promise<Started<string | null>> {
  const { postgresTemplate, startPostgresCluster, TEMPLATE_VARIABLE } = await import('./postgres-cluster.ts');
  const template = await postgresTemplate();
  if (template !== null) process.env[TEMPLATE_VARIABLE] = template.path;
  const given = process.env['TEST_DATABASE_URL'] ?? '';
  const cluster = given === '' ? await startPostgresCluster() : null;
  if (given === '' && cluster === null) {
    process.stderr.write(
      '\n*** NO POSTGRESQL: the ledger is tested on PGlite only. Install PostgreSQL (initdb and postgres) or set TEST_DATABASE_URL. ***\n\n',
    );
  }
  return {
    value: given === '' ? (cluster?.url ?? null) : given,
    async stop() {
      await cluster?.stop();
      await template?.remove();
    },
  };
}

/** Starts one Temporal server for the whole test run, on its own ports, so that it disturbs no other server. */
async function startTemporal(): Promise<Started<string>> {
  const { acquireTemporalBinary } = await import('../../../src/app/temporal/temporal-binary.ts');
  const { startTemporalServer } = await import('../../../src/app/temporal/temporal-server.ts');
  const dataDir = await mkdtemp(join(tmpdir(), 'lote-test-temporal-'));
  const acquired = await oneAtATime(() => acquireTemporalBinary((line) => console.error(line), process.env));
  const binary = await limitedToOneThread(acquired, dataDir);
  const server = await startTemporalServer({ binary, dataDir, namespace: 'default', port: 0, uiPort: 0 });
  return {
    value: server.address,
    async stop() {
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Lets one run of this user work at a time: two runs would build the same Temporal server for minutes. */
async function oneAtATime<Result>(work: () => Promise<Result>): Promise<Result> {
  const folder = join(homedir(), '.cache', 'lote');
  while (!take(folder, 'test-run-builds')) await sleep(1_000);
  try {
    return await work();
  } finally {
    rmSync(join(folder, 'test-run-builds'), { force: true });
  }
}

/** One thread: the server has little to do, and Go's search for work on more threads took a seventh of its CPU time. */
async function limitedToOneThread(binary: string, directory: string): Promise<string> {
  const script = join(directory, 'temporal');
  await writeFile(script, `#!/bin/sh\nGOMAXPROCS=1 exec '${binary}' "$@"\n`, { mode: 0o755 });
  return script;
}

async function bundle(): Promise<Started<string>> {
  const { bundleWorkflows, writeBundle } = await import('../../../src/app/worker/workflow-bundle.ts');
  const directory = await mkdtemp(join(tmpdir(), 'lote-test-bundle-'));
  const path = join(directory, 'workflow-bundle.js');
  const workflows = fileURLToPath(new URL('../../../workflows/index.ts', import.meta.url));
  await writeBundle(path, await bundleWorkflows(workflows));
  return { value: path, stop: () => rm(directory, { recursive: true, force: true }) };
}
