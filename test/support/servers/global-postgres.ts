import type { TestProject } from 'vitest/node';
import { postgresTemplate, startPostgresCluster, TEMPLATE_VARIABLE } from './postgres-cluster.ts';
import { shareSetUp } from './shared-set-up.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The PostgreSQL of the test run, with a schema for each test file; null if this machine has none. */
    postgresUrl: string | null;
  }
}

/** Vitest's global set-up: uses `TEST_DATABASE_URL`, or starts a private cluster from the machine's own binaries. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { value, release } = await shareSetUp('postgres', startPostgres);
  project.provide('postgresUrl', value);
  return release;
}

async function startPostgres(): Promise<{ readonly value: string | null; stop(): Promise<void> }> {
  const template = await postgresTemplate();
  if (template !== null) process.env[TEMPLATE_VARIABLE] = template.path;
  const { url, stop } = await serverOfTheRun();
  return {
    value: url,
    async stop() {
      await stop();
      await template?.remove();
    },
  };
}

async function serverOfTheRun(): Promise<{ readonly url: string | null; stop(): Promise<void> }> {
  const given = process.env['TEST_DATABASE_URL'];
  if (given !== undefined && given !== '') return { url: given, stop: async () => {} };
  const cluster = await startPostgresCluster();
  if (cluster === null) {
    process.stderr.write(
      '\n*** NO POSTGRESQL: the ledger is tested on PGlite only. Install PostgreSQL (initdb and postgres) or set TEST_DATABASE_URL. ***\n\n',
    );
  }
  return { url: cluster?.url ?? null, stop: async () => cluster?.stop() };
}
