import { pollDocuments, type AskedDocuments } from './poll-documents.ts';
import type { ActivityDeps } from '../deps.ts';

export interface PollUnsettledInput {
  readonly ledgerId: string;
  readonly batchId: string;
}

/** Asks for what an earlier run of a batch left `unsettled`: the same file was started again, and somebody wants to know. */
export async function pollUnsettled(deps: ActivityDeps, { batchId }: PollUnsettledInput): Promise<AskedDocuments> {
  return pollDocuments(deps, (afterInvoiceId, limit) =>
    deps.ledger.unsettledDocuments({ batchId, afterInvoiceId, limit }),
  );
}
