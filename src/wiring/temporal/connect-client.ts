import { Client } from '@temporalio/client';
import { LoteError } from '../../domain/errors.ts';
import type { TemporalConfig } from '../../runtime/config/config.ts';
import { GRPC_STATUS } from '../../runtime/temporal/grpc-status.ts';
import {
  connectTemporal,
  lazyTemporal,
  temporalPlace,
  type TemporalPlace,
} from '../../runtime/temporal/temporal-connection.ts';

/** A question about a task queue goes the way of all work, on which a server knows a new namespace some seconds later. */
const ANY_QUEUE = 'lote';
/** TASK_QUEUE_TYPE_WORKFLOW */
const WORKFLOWS = 1;

/** A server of our own is on loopback and wants neither key nor certificate; one that was given may want both. */
export function placeOf(address: string, temporal: TemporalConfig): Promise<TemporalPlace> {
  return address === temporal.address ? temporalPlace(address, temporal) : temporalPlace(address, WITHOUT_SECRETS);
}

const WITHOUT_SECRETS = { apiKey: null, tls: null } as const;

/**
 * A client whose server has answered once, and has the namespace.
 * @throws LoteError `temporal-unavailable`
 */
export async function connectClient(place: TemporalPlace, namespace: string): Promise<Client> {
  const client = new Client({ connection: await connectTemporal(place), namespace });
  if (await hasNamespace(client).catch(() => true)) return client;
  await client.connection.close();
  throw new LoteError(
    'temporal-unavailable',
    `Connecting to Temporal at ${place.address}: the server must have the namespace ${namespace}, and it knows none of that name; a new one it knows after some seconds. ` +
      `Correct TEMPORAL_NAMESPACE, or make it: temporal operator namespace create --namespace ${namespace}`,
  );
}

/** Who may not see it, may use it all the same. @throws what the connection says */
async function hasNamespace(client: Client): Promise<boolean> {
  return (await findNamespace(client)) !== 'missing';
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

/** A client that connects when it is first used: whoever must be up while the server is not. */
export function lazyClient(place: TemporalPlace, namespace: string): Client {
  return new Client({ connection: lazyTemporal(place), namespace });
}
