import type { Client } from '@temporalio/client';
import { GRPC_STATUS } from '../../runtime/temporal/grpc-status.ts';

/** Its caller has other things to do. */
const PATIENCE_MS = 5_000;

/** By a server, or what stands before it, that does not answer this question to this client. */
const REFUSALS: ReadonlySet<unknown> = new Set([
  GRPC_STATUS.permissionDenied,
  GRPC_STATUS.unimplemented,
  GRPC_STATUS.unauthenticated,
]);

/**
 * Tells one database of Temporal from another: the UUID that the namespace of the client got when it was registered. A new namespace, and the same one on an empty
 * server, has another one. Null: the server does not tell it to this client.
 * @throws what the connection says, also where there is no answer within 5 s
 */
export async function temporalIdOf(client: Client): Promise<string | null> {
  const { namespace } = client.options;
  try {
    const ask = () => client.workflowService.describeNamespace({ namespace });
    const { namespaceInfo } = await client.withDeadline(Date.now() + PATIENCE_MS, ask);
    return namespaceInfo?.id || null;
  } catch (error) {
    if (REFUSALS.has((error as { readonly code?: unknown } | null)?.code)) return null;
    throw error;
  }
}
