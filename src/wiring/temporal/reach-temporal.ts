import type { Client } from '@temporalio/client';
import { LoteError } from '../../domain/errors.ts';
import type { Config } from '../../runtime/config/config.ts';
import { dataDirAt, openDataDir } from '../../runtime/data-dir/data-dir.ts';
import { acquireDirectoryLock } from '../../runtime/data-dir/directory-lock.ts';
import { besideOwner, ownerAt, readEndpoints } from '../../runtime/data-dir/endpoints-file.ts';
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
  const reach = async (server: string, space: string, stays: boolean): Promise<T> =>
    withClient(await connectClient(await placeOf(server, config.temporal), space), { stays, taskQueue }, use);
  if (address !== null) return reach(address, namespace, true);
  if (owner !== null) return reach(owner.temporalAddress, owner.temporalNamespace, true);
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
      return await reach(server.address, namespace, false);
    } finally {
      await server.stop();
    }
  } finally {
    await lock.release();
  }
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
