import { askDocuments, type AskedDocuments } from './poll-documents.ts';
import type { ActivityDeps } from '../deps.ts';

export interface AskUnsettledInput {
  readonly ledgerId: string;
  readonly batchId: string;
}

/** Asks for what an earlier run of a batch left `unsettled`: the same file was started again, and somebody wants to know. */
export async function askUnsettled(deps: ActivityDeps, { batchId }: AskUnsettledInput): Promise<AskedDocuments> {
  return askDocuments(deps, (afterInvoiceId, limit) =>
    deps.ledger.unsettledDocuments({ batchId, afterInvoiceId, limit }),
  );
}
