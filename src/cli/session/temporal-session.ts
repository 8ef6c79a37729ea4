import type { Client } from '@temporalio/client';
import { waitingFor } from '../../platform/waiting-for.ts';
import { LoteError } from '../../domain/errors.ts';
import type { Config } from '../../app/config/config.ts';
import { dataDirAt } from '../../app/data-dir/data-dir.ts';
import { besideOwner, ownerAt, readEndpoints } from '../../app/data-dir/endpoints-file.ts';
import { connectClient, placeOf } from '../../app/temporal/temporal-connection.ts';

/** What a command does with Temporal alone. The configuration has the task queue of the worker on that server. */
type UseTemporal = (client: Client, config: Config) => Promise<void>;

/**
 * Connects to the configured Temporal server or to that of the data directory's owner, for a command that only needs
 * its schedules.
 * @throws LoteError `temporal-unavailable` when there is neither, `data-directory-owned`
 */
export async function withTemporal(given: Config, use: UseTemporal): Promise<void> {
  const { temporal, dataDir } = given;
  const owner = ownerAt(temporal, await readEndpoints(dataDirAt(dataDir)));
  const address = temporal.address ?? owner?.temporalAddress ?? null;
  if (address === null)
    throw new LoteError(
      'temporal-unavailable',
      `Connecting to Temporal: TEMPORAL_ADDRESS must name a server, or a running Lote must have the data directory ${dataDir}; found neither. Nothing was changed. Start Lote (lote up), and give the command again.`,
    );
  const namespace = owner?.temporalNamespace ?? temporal.namespace;
  const client = await connectClient(placeOf(address, temporal), namespace).catch((cause: unknown) => {
    // The owner's loopback address leads elsewhere in another network namespace (another container).
    if (owner === null || !(cause instanceof LoteError) || cause.code !== 'temporal-unavailable') throw cause;
    throw new LoteError(
      'data-directory-owned',
      `Connecting to Temporal: another process (${owner.pid} where it runs) owns ${dataDir}, and nothing answers at ${address}, where its Temporal server listens. ` +
        'That server may be starting again, or the process may run in another container or network namespace. Nothing was changed. Run the command there, or again in a moment.',
      { cause },
    );
  });
  try {
    await waitingFor('Temporal', () => use(client, besideOwner(given, owner)));
  } finally {
    await client.connection.close();
  }
}
