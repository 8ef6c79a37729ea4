import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Client } from '@temporalio/client';
import { inject } from 'vitest';
import type { BatchInput } from '../../../src/domain/messages/messages.ts';
import { readConfig } from '../../../src/app/config/config.ts';
import { createLogger } from '../../../src/app/process/logger.ts';
import { startOwner } from '../../../src/app/start/start-owner.ts';
import { startProcess } from '../../../src/app/start/start-process.ts';
import { startBatch, type BatchHandle } from '../../../src/app/temporal/batch-starter.ts';
import { connectClient } from '../../../src/app/temporal/temporal-connection.ts';
import { batchFile, type TestInvoice } from '../files/batch-file.ts';
import { postgresDatabase, type PostgresDatabase } from '../servers/postgres-database.ts';
import { keepCompiled } from '../servers/temporary-database.ts';

const run = promisify(execFile);

export type RestorableLote = Awaited<ReturnType<typeof restorableLote>>;

/** The settings of the place. Lote gets a DATABASE_URL if there is a PostgreSQL server. */
export interface RestorablePlace {
  readonly env: Readonly<Record<string, string>>;
  readonly dataDir: string;
  readonly directory: string;
  /** Null for the embedded ledger. */
  readonly postgresUrl: string | null;
}

/** The running parts of Lote in this process. */
interface Running {
  readonly client: Client;
  stop(): Promise<void>;
}

/** Lote over a ledger, or a whole data directory, that a test can copy and restore. */
export async function restorableLote(place: RestorablePlace) {
  const { postgresUrl } = place;
  const log: string[] = [];
  const logger = createLogger({ level: 'warn', secrets: [], destination: { write: (line) => void log.push(line) } });
  const databases: PostgresDatabase[] = [];
  let env = place.env;
  let running: Running | null = null;

  async function useNewDatabase(server: string): Promise<PostgresDatabase> {
    const database = await postgresDatabase(server);
    databases.push(database);
    env = { ...env, DATABASE_URL: database.url };
    return database;
  }

  function client(): Client {
    if (running === null) throw new Error('Lote must be started before it is used');
    return running.client;
  }

  // Lote's own Temporal server has its database beside the ledger.
  const copied = 'TEMPORAL_ADDRESS' in place.env ? join(place.dataDir, 'ledger') : place.dataDir;
  const copy = join(place.directory, 'copy');
  if (postgresUrl !== null) await useNewDatabase(postgresUrl);

  async function start(): Promise<void> {
    const config = readConfig(env);
    await mkdir(config.inputDir, { recursive: true });
    running = await (postgresUrl === null ? embedded(env, logger) : distributed(env, logger));
  }

  async function stop(): Promise<void> {
    await running?.stop();
    running = null;
  }

  /** Copies the ledger. Stops an embedded Lote meanwhile. With its own Temporal server, copies the data directory. */
  async function copyLedger(): Promise<void> {
    if (postgresUrl !== null) {
      await run('pg_dump', ['--file', copy, env['DATABASE_URL'] ?? '']);
      return;
    }
    const wasRunning = running !== null;
    await stop();
    await cp(copied, copy, { recursive: true });
    if (wasRunning) await start();
  }

  return {
    get env() {
      return env;
    },
    log,
    client,
    start,
    stop,
    copyLedger,
    /** Restores the copy. Call it only while Lote is stopped. */
    async restoreLedger() {
      if (postgresUrl === null) {
        await rm(copied, { recursive: true });
        await cp(copy, copied, { recursive: true });
        return;
      }
      const { url } = await useNewDatabase(postgresUrl);
      await run('psql', ['--quiet', '--set', 'ON_ERROR_STOP=1', '--file', copy, url]);
    },
    /** Changes variables from the next start on. */
    set(changed: Readonly<Record<string, string>>) {
      env = { ...env, ...changed };
    },
    /** Drops a file, and starts its batch. */
    async drop(
      name: string,
      invoices: readonly TestInvoice[],
      options: Partial<BatchInput> = {},
    ): Promise<BatchHandle> {
      const { inputDir, taskQueue, application } = readConfig(env);
      await writeFile(join(inputDir, name), batchFile(invoices));
      const input: BatchInput = { ...options, file: name };
      return (await startBatch({ client: client(), taskQueue, application, inputDir }, input)).handle;
    },
    async remove() {
      await running?.stop();
      await Promise.all(databases.map(async (database) => database.drop()));
    },
  };
}

/** Starts Lote with an embedded ledger. */
async function embedded(env: Readonly<Record<string, string>>, log: ReturnType<typeof createLogger>): Promise<Running> {
  const stack = await startOwner({
    ...{ config: readConfig(env), log, env, notify: () => undefined },
    workflowBundle: inject('workflowBundle'),
  });
  if (stack === null) throw new Error('Another process owns the data directory of the test');
  await keepCompiled();
  return { client: stack.client, stop: () => stack.stop() };
}

/** Starts a worker and a receiver on shared servers. */
async function distributed(
  env: Readonly<Record<string, string>>,
  log: ReturnType<typeof createLogger>,
): Promise<Running> {
  const config = readConfig({ ...env, HEALTH_PORT: 'none' });
  const receiver = await startProcess({ config, log, roles: ['receiver'], own: null });
  const worker = await startProcess({
    ...{ config, log, roles: ['worker'], own: null, workflowBundle: inject('workflowBundle') },
  });
  const client = await connectClient({ address: config.temporal.address ?? '' }, config.temporal.namespace);
  return {
    client,
    async stop() {
      await worker.stop();
      await receiver.stop();
      await client.connection.close();
    },
  };
}

/** Moves all times of the send log in the reports folder back by `ms`. */
export async function ageSendLog(reportsDir: string, ms: number): Promise<void> {
  const folder = join(reportsDir, '.lote-sent');
  for (const name of await readdir(join(folder, 'keys'))) {
    const path = join(folder, 'keys', name);
    const aged = (await readFile(path, 'utf8')).replaceAll(/"at":(\d+)/g, (_, at: string) => `"at":${Number(at) - ms}`);
    await writeFile(path, aged);
  }
  for (const name of await readdir(folder)) {
    const at = Number(name.split('.').at(-1));
    if (at > 0) await rename(join(folder, name), join(folder, name.replace(/\d+$/, String(at - ms))));
  }
}
