import { pollDocuments, type PolledDocuments } from './poll-documents.ts';
import type { ActivityDeps } from '../deps.ts';

export interface PollUnsettledInput {
  readonly ledgerId: string;
  readonly batchId: string;
}

/** Polls what an earlier run of the batch left `unsettled`, because the same file was started again. */
export async function pollUnsettled(deps: ActivityDeps, { batchId }: PollUnsettledInput): Promise<PolledDocuments> {
  return pollDocuments(deps, (afterInvoiceId, limit) =>
    deps.ledger.unsettledDocuments({ batchId, afterInvoiceId, limit }),
  );
}
