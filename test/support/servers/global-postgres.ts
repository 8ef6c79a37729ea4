import type { TestProject } from 'vitest/node';
import type { PostgresCluster } from './postgres-cluster.ts';
import { startPostgresCluster } from './postgres-cluster.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** One PostgreSQL per test run, a schema per test file; null: this machine has none. */
    postgresUrl: string | null;
  }
}

let cluster: PostgresCluster | null = null;

/** Vitest's global set-up: `TEST_DATABASE_URL`, or else a private cluster from the machine's own binaries. */
export async function setup(project: TestProject): Promise<void> {
  const given = process.env['TEST_DATABASE_URL'];
  if (given !== undefined && given !== '') {
    project.provide('postgresUrl', given);
    return;
  }
  cluster = await startPostgresCluster();
  if (cluster === null) {
    process.stderr.write(
      '\n*** NO POSTGRESQL: the ledger is tested on PGlite only. Install PostgreSQL (initdb and postgres) or set TEST_DATABASE_URL. ***\n\n',
    );
  }
  project.provide('postgresUrl', cluster?.url ?? null);
}

export async function teardown(): Promise<void> {
  await cluster?.stop();
}
