import { execFile } from 'node:child_process';
import { cp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Client } from '@temporalio/client';
import { inject } from 'vitest';
import type { BatchInput, BatchResult, ReconciliationResult } from '../../../src/domain/messages/messages.ts';
import { readConfig } from '../../../src/app/config/config.ts';
import { createLogger } from '../../../src/app/process/logger.ts';
import { startOwner } from '../../../src/app/start/start-owner.ts';
import { startProcess } from '../../../src/app/start/start-process.ts';
import { startBatch, type BatchHandle } from '../../../src/app/temporal/batch-starter.ts';
import { connectClient } from '../../../src/app/temporal/temporal-connection.ts';
import type { reconciliation } from '../../../workflows/reconciliation.ts';
import { batchFile, ownName, testInvoices, type TestInvoice } from '../files/batch-file.ts';
import { forTest } from '../lifetime.ts';
import { postgresDatabase, type PostgresDatabase } from '../servers/postgres-database.ts';
import { keepCompiled } from '../servers/temporary-database.ts';
import { sandboxEnv, servedPlace, sharedTemporal } from './running-lote.ts';
import { shareCallContext, shareWorkflowThread } from './shared-connection.ts';

shareWorkflowThread(inject('workflowBundle'));
shareCallContext();

const run = promisify(execFile);

/** Six invoices of one night. */
export const NIGHT = testInvoices(6, {}, 10);

export type Scene = Awaited<ReturnType<typeof scene>>;
export type RestorableLote = Scene['lote'];

type Env = Readonly<Record<string, string>>;
type Logger = ReturnType<typeof createLogger>;

/** The running parts of Lote in this process. */
interface Running {
  readonly client: Client;
  stop(): Promise<void>;
}

/** Prepares Lote with a sandbox, and with its own Temporal server or the server of the test run. */
export async function scene(postgresUrl: string | null, settleMs = 20, temporal: 'own' | 'shared' = 'shared') {
  let ahead = 0;
  const place = await forTest(servedPlace({ settleMs, clock: () => Date.now() + ahead }));
  const env = {
    ...{ ...(await sandboxEnv(place, place.front)), ...sharedTemporal(), LOTE_LOG_LEVEL: 'warn' },
    // The service sends a final event once, to the lost ledger. A poll after a quarter of this time repeats it.
    LOTE_SETTLE_TIMEOUT: '20s',
  };
  const { TEMPORAL_ADDRESS: _, ...withOwnTemporal } = env;
  const lote = await forTest(restorableLote(place, temporal === 'own' ? withOwnTemporal : env, postgresUrl));
  return {
    ...{ lote, sandbox: place.sandbox, front: place.front, reportsDir: place.reportsDir },
    /** Advances the service's clock, so that the service forgets keys. */
    pass: (ms: number) => void (ahead += ms),
  };
}

/** Lote over a ledger, or a whole data directory, that a test can copy and restore. */
async function restorableLote(
  place: { readonly directory: string; readonly dataDir: string },
  settings: Env,
  postgresUrl: string | null,
) {
  const log: string[] = [];
  const logger = createLogger({ level: 'warn', secrets: [], destination: { write: (line) => void log.push(line) } });
  const databases: PostgresDatabase[] = [];
  let env = settings;
  let running: Running | null = null;

  async function useNewDatabase(server: string): Promise<string> {
    const database = await postgresDatabase(server);
    databases.push(database);
    env = { ...env, DATABASE_URL: database.url };
    return database.url;
  }

  function client(): Client {
    if (running === null) throw new Error('Lote must be started before it is used');
    return running.client;
  }

  // Lote's own Temporal server has its database beside the ledger.
  const copied = 'TEMPORAL_ADDRESS' in env ? join(place.dataDir, 'ledger') : place.dataDir;
  const copy = join(place.directory, 'copy');
  if (postgresUrl !== null) await useNewDatabase(postgresUrl);

  async function start(): Promise<void> {
    running = await (postgresUrl === null ? embedded(env, logger) : distributed(env, logger));
  }

  async function stop(): Promise<void> {
    await running?.stop();
    running = null;
  }

  return {
    get env() {
      return env;
    },
    ...{ log, client, start, stop },
    /** Copies the ledger. Stops an embedded Lote meanwhile. With its own Temporal server, copies the data directory. */
    async copyLedger() {
      if (postgresUrl !== null) {
        await run('pg_dump', ['--file', copy, env['DATABASE_URL'] ?? '']);
        return;
      }
      const wasRunning = running !== null;
      await stop();
      await cp(copied, copy, { recursive: true });
      if (wasRunning) await start();
    },
    /** Restores the copy. Call it only while Lote is stopped. */
    async restoreLedger() {
      if (postgresUrl === null) {
        await rm(copied, { recursive: true });
        await cp(copy, copied, { recursive: true });
        return;
      }
      const url = await useNewDatabase(postgresUrl);
      await run('psql', ['--quiet', '--set', 'ON_ERROR_STOP=1', '--file', copy, url]);
    },
    /** Changes variables from the next start on. */
    set(changed: Env) {
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
      await stop();
      await Promise.all(databases.map((database) => database.drop()));
    },
  };
}

/** Starts Lote with an embedded ledger. */
async function embedded(env: Env, log: Logger): Promise<Running> {
  const stack = await startOwner({
    ...{ config: readConfig(env), log, env, notify: () => undefined },
    workflowBundle: inject('workflowBundle'),
  });
  if (stack === null) throw new Error('Another process owns the data directory of the test');
  await keepCompiled();
  return { client: stack.client, stop: () => stack.stop() };
}

/** Starts a worker and a receiver on shared servers. */
async function distributed(env: Env, log: Logger): Promise<Running> {
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

export async function resultOf(
  lote: RestorableLote,
  name: string,
  invoices: typeof NIGHT,
  options: Partial<BatchInput> = {},
): Promise<BatchResult> {
  return (await lote.drop(name, invoices, options)).result();
}

export async function reconcileAll(lote: RestorableLote): Promise<ReconciliationResult> {
  return lote.client().workflow.execute<typeof reconciliation>('reconciliation', {
    workflowId: ownName('reconciliation'),
    taskQueue: readConfig(lote.env).taskQueue,
    args: [{ all: true }],
  });
}
