import type { Client } from '@temporalio/client';
import { waitingFor } from '../../platform/waiting-for.ts';
import { LoteError } from '../../domain/errors.ts';
import type { Config } from '../../app/config/config.ts';
import { dataDirAt, openDataDir } from '../../app/data-dir/data-dir.ts';
import { acquireDirectoryLock } from '../../app/data-dir/directory-lock.ts';
import { besideOwner, ownerAt, readEndpoints, type Endpoints } from '../../app/data-dir/endpoints-file.ts';
import { createLogger } from '../../app/process/logger.ts';
import { connectClient, placeOf } from '../../app/temporal/temporal-connection.ts';
import { embeddedTemporal } from '../../app/temporal/temporal-server.ts';

/** A session of a command that only needs Temporal, for its schedules. */
export interface TemporalSession {
  readonly client: Client;
  /** Configuration of this command, with the task queue of the worker on that server. */
  readonly config: Config;
  /** True if the server outlives this command. */
  readonly stays: boolean;
}

interface TemporalWish {
  readonly config: Config;
  readonly notify: (line: string) => void;
  readonly env: NodeJS.ProcessEnv;
}

/** Connects to the given Temporal server or to that of the data directory's owner, or starts an embedded one for as long as `use` takes. */
export async function withTemporal<T>(wish: TemporalWish, use: (reached: TemporalSession) => Promise<T>): Promise<T> {
  const { temporal, dataDir } = wish.config;
  const owner = ownerAt(temporal, await readEndpoints(dataDirAt(dataDir)));
  const address = temporal.address ?? owner?.temporalAddress ?? null;
  const config = besideOwner(wish.config, owner);
  const useOf = (client: Client) => waitingFor('Temporal', () => use({ client, config, stays: address !== null }));
  if (address === null) return withEmbedded(wish, useOf);
  const client = await connect(config, address, owner);
  try {
    return await useOf(client);
  } finally {
    await client.connection.close();
  }
}

async function withEmbedded<T>({ config, notify, env }: TemporalWish, use: (client: Client) => Promise<T>): Promise<T> {
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
    try {
      return await use(client);
    } finally {
      await stop();
    }
  } finally {
    await lock.release();
  }
}

/** Connects to Temporal. Explains a failure beside an owner, whose loopback address leads elsewhere in another network namespace (another container). */
async function connect({ temporal, dataDir }: Config, address: string, owner: Endpoints | null): Promise<Client> {
  try {
    return await connectClient(placeOf(address, temporal), owner?.temporalNamespace ?? temporal.namespace);
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
