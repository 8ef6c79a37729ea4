import { LoteError } from '../domain/errors.ts';

export function batchNotFound(batchId: string): LoteError {
  return new LoteError(
    'batch-not-found',
    `The ledger knows no batch ${batchId}. \`lote status\` lists the batches it knows.`,
  );
}
