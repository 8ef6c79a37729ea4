import { Client } from '@temporalio/client';
import { waitingFor } from '../../platform/waiting-for.ts';
import { LoteError } from '../../domain/errors.ts';
import type { TemporalConfig } from '../config/config.ts';
import { GRPC_STATUS } from './temporal-failure.ts';
import { connectTemporal, lazyTemporal, temporalPlace, type TemporalPlace } from './temporal-connection.ts';

/** A question about a task queue goes the way of all work, on which a server knows a new namespace some seconds later. */
const ANY_QUEUE = 'lote';
/** TASK_QUEUE_TYPE_WORKFLOW */
const WORKFLOWS = 1;

/** A server of our own is on loopback and wants neither key nor certificate; one that was given may want both. */
export function placeOf(address: string, temporal: TemporalConfig): TemporalPlace {
  return temporalPlace(address, address === temporal.address ? temporal.profile : {});
}

/**
 * A client whose server has answered once, and has the namespace.
 * @throws LoteError `temporal-unavailable`
 */
export function connectClient(place: TemporalPlace, namespace: string): Promise<Client> {
  return waitingFor(`Temporal at ${place.address}`, () => connectAt(place, namespace));
}

async function connectAt(place: TemporalPlace, namespace: string): Promise<Client> {
  const client = new Client({ connection: await connectTemporal(place), namespace });
  // A client that may not see the namespace may use it all the same.
  if ((await findNamespace(client).catch(() => 'denied')) !== 'missing') return client;
  await client.connection.close();
  throw new LoteError(
    'temporal-unavailable',
    `Connecting to Temporal at ${place.address}: the server must have the namespace ${namespace}, and it knows none of that name; a new one it knows after some seconds. ` +
      `Correct TEMPORAL_NAMESPACE, or make it: temporal operator namespace create --namespace ${namespace}`,
  );
}

/**
 * What the server says of the namespace of the client; `denied`: it does not show it to this client.
 * @throws what the connection says
 */
export async function findNamespace(client: Client): Promise<'there' | 'missing' | 'denied'> {
  try {
    const { namespace } = client.options;
    const taskQueue = { name: ANY_QUEUE };
    await client.workflowService.describeTaskQueue({ namespace, taskQueue, taskQueueType: WORKFLOWS });
    return 'there';
  } catch (error) {
    const { code } = (error ?? {}) as { readonly code?: unknown };
    if (code === GRPC_STATUS.permissionDenied) return 'denied';
    if (code === GRPC_STATUS.notFound) return 'missing';
    throw error;
  }
}

/** A client that connects when it is first used, for a process that must be up while the server is not. */
export function lazyClient(place: TemporalPlace, namespace: string): Client {
  return new Client({ connection: lazyTemporal(place), namespace });
}
