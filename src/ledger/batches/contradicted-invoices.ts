import { type Contradicted, MOST_CONTRADICTED } from '../../domain/ports/ledger/batch-record.ts';
import { arrayLiteral } from '../database/array-literal.ts';
import type { Database } from '../database/database.ts';
import { CONTRADICTED_INVOICES } from './contradictions-sql.ts';

interface ContradictedRow extends Contradicted {
  readonly batch_id: string;
}

/** Number and first references of the invoices in doubt, by batch; a batch without one has no entry. */
export async function contradictedInvoices(
  database: Database,
  batchIds: readonly string[],
): Promise<ReadonlyMap<string, Contradicted>> {
  const rows = await database.query<ContradictedRow>(CONTRADICTED_INVOICES, [
    arrayLiteral(batchIds),
    MOST_CONTRADICTED,
  ]);
  return new Map(rows.map(({ batch_id: batchId, invoices, refs }) => [batchId, { invoices, refs }]));
}
