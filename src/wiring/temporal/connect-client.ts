import { Client } from '@temporalio/client';
import type { TemporalConfig } from '../../runtime/config/config.ts';
import {
  connectTemporal,
  lazyTemporal,
  temporalPlace,
  type TemporalPlace,
} from '../../runtime/temporal/temporal-connection.ts';

/** A server of our own is on loopback and wants neither key nor certificate; one that was given may want both. */
export function placeOf(address: string, temporal: TemporalConfig): Promise<TemporalPlace> {
  return address === temporal.address ? temporalPlace(address, temporal) : temporalPlace(address, WITHOUT_SECRETS);
}

const WITHOUT_SECRETS = { apiKey: null, tls: null } as const;

/**
 * A client whose server has answered once.
 * @throws LoteError `temporal-unavailable`
 */
export async function connectClient(place: TemporalPlace, namespace: string): Promise<Client> {
  return new Client({ connection: await connectTemporal(place), namespace });
}

/** A client that connects when it is first used: whoever must be up while the server is not. */
export function lazyClient(place: TemporalPlace, namespace: string): Client {
  return new Client({ connection: lazyTemporal(place), namespace });
}
