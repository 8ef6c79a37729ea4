import { randomBytes } from 'node:crypto';
import { newPlace, type Place, type RunningCommand } from './lote-command.ts';
import { ownPort } from '../servers/own-port.ts';
import { postgresDatabase, type PostgresDatabase } from '../servers/postgres-database.ts';
import { processes, type Processes } from './processes.ts';
import { SANDBOX_KEY } from '../servers/sandbox-books.ts';

/** What the processes of one distributed Lote share: a database, a Temporal server, a sandbox, and folders unless a test says otherwise. */
export interface DistributedPlace {
  readonly place: Place;
  readonly sandboxPlace: Place;
  readonly database: PostgresDatabase;
  readonly processes: Processes;
  readonly sandbox: RunningCommand;
  /** Of a worker. */
  readonly env: Readonly<Record<string, string>>;
  /** Of `lote run` and its like, which know no service. */
  readonly client: Readonly<Record<string, string>>;
  remove(): Promise<void>;
}

export interface DistributedServers {
  readonly postgresUrl: string;
  readonly temporalAddress: string;
  /** Settings that a test adds. */
  readonly env?: Readonly<Record<string, string>>;
  /** What goes wrong in the sandbox; default: nothing. */
  readonly faults?: Readonly<Record<string, number>>;
}

export async function distributedPlace({
  postgresUrl,
  temporalAddress,
  env: added = {},
  faults = {},
}: DistributedServers): Promise<DistributedPlace> {
  const all = processes();
  const [place, sandboxPlace, database] = await Promise.all([newPlace(), newPlace(), postgresDatabase(postgresUrl)]);
  const sandboxPort = String(await ownPort());
  const client = {
    ...place.env,
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: temporalAddress,
    LOTE_TASK_QUEUE: `lote-${randomBytes(4).toString('hex')}`,
    ...added,
  };
  const env = {
    ...client,
    INVOICING_BASE_URL: `http://127.0.0.1:${sandboxPort}`,
    INVOICING_API_KEY: SANDBOX_KEY,
    LOTE_PAGE_SIZE: '100',
    LOTE_SETTLE_TIMEOUT: '20s',
  };
  const sandbox = all.start(['sandbox'], {
    ...sandboxPlace.env,
    SANDBOX_PORT: sandboxPort,
    SANDBOX_FAULTS: JSON.stringify(faults),
  });
  await sandbox.said('Sandbox http');
  return {
    ...{ place, sandboxPlace, database, processes: all, sandbox, env, client },
    async remove() {
      await all.killAll();
      await database.drop();
      await Promise.all([place.remove(), sandboxPlace.remove()]);
    },
  };
}
