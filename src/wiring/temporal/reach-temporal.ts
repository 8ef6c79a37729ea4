import type { Client } from '@temporalio/client';
import { LoteError } from '../../domain/errors.ts';
import type { Config } from '../../runtime/config/config.ts';
import { dataDirAt, openDataDir } from '../../runtime/data-dir/data-dir.ts';
import { acquireDirectoryLock } from '../../runtime/data-dir/directory-lock.ts';
import { besideOwner, ownerAt, readEndpoints, type Endpoints } from '../../runtime/data-dir/endpoints-file.ts';
import { acquireTemporalBinary } from '../../runtime/temporal/temporal-binary.ts';
import { startTemporalServer } from '../../runtime/temporal/temporal-server.ts';
import { connectClient, placeOf } from './connect-client.ts';

export interface ReachTemporal {
  readonly config: Config;
  readonly notify: (line: string) => void;
  readonly env: NodeJS.ProcessEnv;
}

/** A Temporal client for one command. */
export interface ReachedTemporal {
  readonly client: Client;
  /** That of the worker there. */
  readonly taskQueue: string;
  /** Whether the server outlives this command. */
  readonly stays: boolean;
}

/** Temporal as it can be had: the given server, that of the data directory's owner, or an embedded one for as long as `use` takes. */
export async function reachTemporal<T>(
  { config, notify, env }: ReachTemporal,
  use: (reached: ReachedTemporal) => Promise<T>,
): Promise<T> {
  const { address, namespace } = config.temporal;
  const owner = ownerAt(config.temporal, await readEndpoints(dataDirAt(config.dataDir)));
  const { taskQueue } = besideOwner(config, owner);
  const connect = async (server: string, space: string): Promise<Client> =>
    connectClient(await placeOf(server, config.temporal), space);
  const there = { stays: true, taskQueue };
  if (address !== null) return withClient(await connect(address, namespace), there, use);
  if (owner !== null) {
    const client = await connect(owner.temporalAddress, owner.temporalNamespace).catch((error: unknown) =>
      Promise.reject(ownersServerAway(owner, config, error)),
    );
    return withClient(client, there, use);
  }
  const dataDir = await openDataDir(config.dataDir);
  const lock = await acquireDirectoryLock(dataDir.path);
  if (lock === null) {
    throw new LoteError(
      'data-directory-owned',
      `Connecting to Temporal: another process owns ${config.dataDir} and has not published its addresses yet. Try again in a moment.`,
    );
  }
  try {
    const binary = await acquireTemporalBinary(notify, env);
    const server = await startTemporalServer({ binary, dataDir: dataDir.path, namespace });
    try {
      return await withClient(await connect(server.address, namespace), { stays: false, taskQueue }, use);
    } finally {
      await server.stop();
    }
  } finally {
    await lock.release();
  }
}

/** An owner tells a loopback address, which in another network namespace (another container) leads elsewhere. */
function ownersServerAway({ temporalAddress, pid }: Endpoints, { dataDir }: Config, cause: unknown): unknown {
  if (!(cause instanceof LoteError) || cause.code !== 'temporal-unavailable') return cause;
  return new LoteError(
    'data-directory-owned',
    `Connecting to Temporal: another process (${pid} where it runs) owns ${dataDir}, and nothing answers at ${temporalAddress}, where its Temporal server listens. ` +
      'That server may be starting again, or the process may run in another container or network namespace. Nothing was changed. Run the command there, or again in a moment.',
    { cause },
  );
}

async function withClient<T>(
  client: Client,
  place: Omit<ReachedTemporal, 'client'>,
  use: (reached: ReachedTemporal) => Promise<T>,
): Promise<T> {
  try {
    return await use({ client, ...place });
  } finally {
    await client.connection.close();
  }
}
