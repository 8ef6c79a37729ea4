import type { Client } from '@temporalio/client';
import { LoteError } from '../domain/errors.ts';
import type { Config } from '../runtime/config.ts';
import { openDataDir } from '../runtime/data-dir.ts';
import { acquireDirectoryLock } from '../runtime/directory-lock.ts';
import { readEndpoints } from '../runtime/endpoints.ts';
import { acquireTemporalBinary } from '../runtime/temporal-binary.ts';
import { startTemporalServer } from '../runtime/temporal-server.ts';
import { connectClient, placeOf } from './connect-client.ts';

export interface ReachTemporal {
  readonly config: Config;
  readonly tell: (line: string) => void;
  readonly env: NodeJS.ProcessEnv;
}

export interface ReachedTemporal {
  readonly client: Client;
  /** Whether the server outlives this command. */
  readonly stays: boolean;
}

/** Temporal as it can be had: the given server, that of the data directory's owner, or an embedded one for as long as `use` takes. */
export async function reachTemporal<T>(
  { config, tell, env }: ReachTemporal,
  use: (reached: ReachedTemporal) => Promise<T>,
): Promise<T> {
  const { address, namespace } = config.temporal;
  if (address !== null) return withClient({ config, address, namespace, stays: true }, use);
  const dataDir = await openDataDir(config.dataDir);
  const owner = await readEndpoints(dataDir);
  if (owner !== null)
    return withClient({ config, address: owner.temporalAddress, namespace: owner.temporalNamespace, stays: true }, use);
  const lock = await acquireDirectoryLock(dataDir.path);
  if (lock === null) {
    throw new LoteError(
      'data-directory-owned',
      `Another process owns ${config.dataDir} and has not told its addresses yet. Try again in a moment.`,
    );
  }
  try {
    const binary = await acquireTemporalBinary(tell, env);
    const server = await startTemporalServer({ binary, dataDir: dataDir.path, namespace });
    try {
      return await withClient({ config, address: server.address, namespace, stays: false }, use);
    } finally {
      await server.stop();
    }
  } finally {
    await lock.release();
  }
}

async function withClient<T>(
  { config, address, namespace, stays }: { config: Config; address: string; namespace: string; stays: boolean },
  use: (reached: ReachedTemporal) => Promise<T>,
): Promise<T> {
  const client = await connectClient(await placeOf(address, config.temporal), namespace);
  try {
    return await use({ client, stays });
  } finally {
    await client.connection.close();
  }
}
