import { LoteError } from '../../domain/errors.ts';

const MOST_NAMED = 3;

/** Names what may have been meant: ids are long, and are typed from memory. */
export function batchNotFound(batchId: string, known: readonly { readonly batchId: string }[] = []): LoteError {
  const meant = known.filter((one) => one.batchId.includes(batchId) || batchId.includes(one.batchId));
  const named = meant.slice(0, MOST_NAMED).map((one) => one.batchId);
  const hint = named.length === 0 ? '`lote status` lists the batches it knows.' : `Did you mean ${named.join(' or ')}?`;
  return new LoteError('batch-not-found', `The ledger knows no batch ${batchId}. ${hint}`);
}
