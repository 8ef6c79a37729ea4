import type { Client } from '@temporalio/client';
import { waitingFor } from '../../platform/waiting-for.ts';
import { LoteError } from '../../domain/errors.ts';
import type { Config } from '../../app/config/config.ts';
import { dataDirAt, openDataDir } from '../../app/data-dir/data-dir.ts';
import { acquireDirectoryLock } from '../../app/data-dir/directory-lock.ts';
import { ownerAt, readEndpoints, type Endpoints } from '../../app/data-dir/endpoints-file.ts';
import { createLogger } from '../../app/process/logger.ts';
import { connectClient, placeOf } from '../../app/temporal/temporal-connection.ts';
import { embeddedTemporal } from '../../app/temporal/temporal-server.ts';

/** A session of a command that only needs Temporal, for its schedules. */
export interface TemporalSession {
  readonly client: Client;
  /** That of the worker there. */
  readonly taskQueue: string;
  /** Whether the server outlives this command. */
  readonly stays: boolean;
}

interface TemporalWish {
  readonly config: Config;
  readonly notify: (line: string) => void;
  readonly env: NodeJS.ProcessEnv;
}

/** Temporal as it can be had: the given server, that of the data directory's owner, or an embedded one for as long as `use` takes. */
export async function withTemporal<T>(wish: TemporalWish, use: (reached: TemporalSession) => Promise<T>): Promise<T> {
  const { temporal, dataDir, taskQueue } = wish.config;
  const owner = ownerAt(temporal, await readEndpoints(dataDirAt(dataDir)));
  const address = temporal.address ?? owner?.temporalAddress ?? null;
  const { client, stop } = address === null ? await startTemporal(wish) : await connect(wish.config, address, owner);
  try {
    const there = { client, taskQueue: owner?.taskQueue ?? taskQueue, stays: address !== null };
    return await waitingFor('Temporal', () => use(there));
  } finally {
    await stop();
  }
}

interface Reached {
  readonly client: Client;
  stop(): Promise<void>;
}

async function startTemporal({ config, notify, env }: TemporalWish): Promise<Reached> {
  const dataDir = await openDataDir(config.dataDir);
  const lock = await acquireDirectoryLock(dataDir.path);
  if (lock === null) {
    throw new LoteError(
      'data-directory-owned',
      `Connecting to Temporal: another process owns ${config.dataDir} and has not published its addresses yet. Try again in a moment.`,
    );
  }
  try {
    const log = createLogger({ level: 'warn', secrets: config.secrets });
    const { client, stop } = await embeddedTemporal({ config, log, notify, env, dataDir: dataDir.path });
    return {
      client,
      async stop() {
        try {
          await stop();
        } finally {
          await lock.release();
        }
      },
    };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** An owner tells a loopback address, which in another network namespace (another container) leads elsewhere. */
async function connect({ temporal, dataDir }: Config, address: string, owner: Endpoints | null): Promise<Reached> {
  try {
    const client = await connectClient(placeOf(address, temporal), owner?.temporalNamespace ?? temporal.namespace);
    return { client, stop: () => client.connection.close() };
  } catch (cause) {
    const isAway = cause instanceof LoteError && cause.code === 'temporal-unavailable';
    if (owner === null || temporal.address !== null || !isAway) throw cause;
    throw new LoteError(
      'data-directory-owned',
      `Connecting to Temporal: another process (${owner.pid} where it runs) owns ${dataDir}, and nothing answers at ${address}, where its Temporal server listens. ` +
        'That server may be starting again, or the process may run in another container or network namespace. Nothing was changed. Run the command there, or again in a moment.',
      { cause },
    );
  }
}
