import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { inject } from 'vitest';
import { acquireTemporalBinary } from '../../../src/runtime/temporal/temporal-binary.ts';
import { startTemporalServer } from '../../../src/runtime/temporal/temporal-server.ts';
import { bookedLines, type BookedLines } from './booked-lines.ts';
import { newPlace, type Place } from '../lote/lote-command.ts';
import { ownPort } from '../servers/own-port.ts';
import { startPostgresCluster } from '../servers/postgres-cluster.ts';
import { postgresDatabase } from '../servers/postgres-database.ts';
import { independentSandbox, SANDBOX_KEY } from '../servers/sandbox-books.ts';
import { sharedTemporal } from '../servers/shared-temporal.ts';
import type { Sandbox } from '../../../src/sandbox/sandbox.ts';
import { movableClock } from '../movable-clock.ts';

/** The servers that workers and receiver of one crash lane depend on, each of which can be ended. */
export interface CrashServers {
  readonly place: Place;
  readonly cluster: CrashDatabase;
  readonly temporal: CrashTemporal;
  readonly taskQueue: string;
  readonly application: string;
  readonly sandbox: Sandbox;
  readonly booked: BookedLines;
  /** Environment of `lote run`, and of the parts. */
  readonly client: Readonly<Record<string, string>>;
  readonly parts: Readonly<Record<string, string>>;
  remove(): Promise<void>;
}

export interface CrashDatabase {
  readonly url: string;
  kill(): Promise<void>;
  restart(): Promise<void>;
}

export interface CrashTemporal {
  readonly address: string;
  kill(): void;
  /** On the same file and port, with its clock further on than before. Without a movable clock only 0 is taken. */
  restart(clockAheadMs?: number): Promise<void>;
}

/** Longer than a page looks for its last word by itself: otherwise no page would ever be signalled. */
const SETTLE_MS = 3_000;

/**
 * Null where the machine has no PostgreSQL. `clock`: the Temporal server has a clock that can be moved. `ownServers`: false, for a test that ends no server,
 * gives a database and a task queue of those of the test run.
 */
export async function crashServers({ pageSize = 30, clock = false, ownServers = true }): Promise<CrashServers | null> {
  const place = await newPlace();
  await mkdir(place.dataDir, { recursive: true });
  const backend = ownServers ? await ownBackend(place.dataDir, clock) : await sharedBackend();
  if (backend === null) {
    await place.remove();
    return null;
  }
  const { cluster, temporal, taskQueue, application } = backend;
  const booked = bookedLines(SETTLE_MS);
  const sandbox = await independentSandbox({ latencyMs: 5, engine: booked.engine });
  const receiverPort = await ownPort();
  const client = {
    ...place.env,
    DATABASE_URL: cluster.url,
    TEMPORAL_ADDRESS: temporal.address,
    LOTE_TASK_QUEUE: taskQueue,
    LOTE_APPLICATION: application,
  };
  const parts = {
    ...client,
    INVOICING_BASE_URL: sandbox.url,
    INVOICING_API_KEY: SANDBOX_KEY,
    WEBHOOK_URL: `http://127.0.0.1:${receiverPort}/webhooks`,
    RECEIVER_PORT: String(receiverPort),
    LOTE_PAGE_SIZE: String(pageSize),
    LOTE_SETTLE_TIMEOUT: '3m',
  };
  return {
    ...{ place, cluster, temporal, taskQueue, application, sandbox, booked, client, parts },
    async remove() {
      await backend.stop();
      await sandbox.close();
      await place.remove();
    },
  };
}

type Backend = Pick<CrashServers, 'cluster' | 'temporal' | 'taskQueue' | 'application'> & { stop(): Promise<void> };

async function ownBackend(dataDir: string, clock: boolean): Promise<Backend | null> {
  const cluster = await startPostgresCluster();
  if (cluster === null) return null;
  const temporal = await ownTemporal(dataDir, clock);
  return {
    ...{ cluster, temporal, taskQueue: `lote-${randomBytes(4).toString('hex')}`, application: 'default' },
    async stop() {
      await temporal.stop();
      await cluster.stop();
    },
  };
}

async function sharedBackend(): Promise<Backend | null> {
  const url = inject('postgresUrl');
  if (url === null) return null;
  const database = await postgresDatabase(url);
  const {
    TEMPORAL_ADDRESS: address = '',
    LOTE_TASK_QUEUE: taskQueue = '',
    LOTE_APPLICATION: application = '',
  } = sharedTemporal();
  const refuse = (): never => {
    throw new Error('A server of the test run is none to be ended');
  };
  return {
    cluster: { url: database.url, kill: refuse, restart: refuse },
    temporal: { address, kill: refuse, restart: refuse },
    ...{ taskQueue, application, stop: () => database.drop() },
  };
}

async function ownTemporal(dataDir: string, movable: boolean): Promise<CrashTemporal & { stop(): Promise<void> }> {
  const clock = movable ? await movableClock(dataDir) : null;
  const binary = clock?.binary ?? (await acquireTemporalBinary(() => undefined, process.env));
  const server = await startTemporalServer({
    ...{ binary, dataDir, namespace: 'default', port: await ownPort(), uiPort: await ownPort() },
  });
  return {
    address: server.address,
    kill: () => server.kill(),
    async restart(clockAheadMs = 0) {
      if (clockAheadMs > 0) await clock?.forward(clockAheadMs);
      // A server that did not come up (its ports are chosen while others start) is started again, as any supervisor does.
      while (!(await server.restart())) console.error('The Temporal server of a crash lane did not come up: once more');
    },
    stop: () => server.stop(),
  };
}
