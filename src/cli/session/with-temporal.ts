import type { Client } from '@temporalio/client';
import { LoteError } from '../../domain/errors.ts';
import type { Config } from '../../app/config/config.ts';
import { dataDirAt } from '../../app/data-dir/data-dir.ts';
import { besideOwner, ownerAt, readEndpoints, type Endpoints } from '../../app/data-dir/endpoints-file.ts';
import { connectClient, placeOf } from '../../app/temporal/temporal-connection.ts';

/**
 * Connects to the Temporal server of the data directory's owner, if it is the configured one or none is configured, else
 * to the configured one. `use` gets the configuration with the task queue of the worker on that server.
 * @throws LoteError `temporal-unavailable` when there is neither
 */
export async function withTemporal<T>(
  given: Config,
  use: (client: Client, config: Config) => Promise<T>,
  knownOwner?: Endpoints,
): Promise<T> {
  const { temporal, dataDir } = given;
  const owner = knownOwner ?? ownerAt(temporal, await readEndpoints(dataDirAt(dataDir)));
  const address = owner?.temporalAddress ?? temporal.address;
  if (address === null)
    throw new LoteError(
      'temporal-unavailable',
      `Connecting to Temporal: TEMPORAL_ADDRESS must name a server, or a running Lote must have the data directory ${dataDir}; found neither. Nothing was changed. Start Lote (lote up), and give the command again.`,
    );
  const client = await connectClient(placeOf(address, temporal), owner?.temporalNamespace ?? temporal.namespace);
  try {
    return await use(client, besideOwner(given, owner));
  } finally {
    await client.connection.close();
  }
}
