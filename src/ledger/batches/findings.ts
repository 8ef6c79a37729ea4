import type { Finding } from '../../domain/invoice.ts';
import type { BatchLedger } from '../../domain/ports/ledger/batch-ledger.ts';
import { arrayLiteral } from '../database/array-literal.ts';
import type { Database } from '../database/database.ts';
import { DECIDING_FINDINGS, LIST_FINDINGS } from './findings-sql.ts';
import { noteTotals, overruleTotals } from './totals-finding.ts';

type Findings = Pick<BatchLedger, 'fileFindings' | 'decidingFindings' | 'noteTotals' | 'overruleTotals'>;

/** What was found of the files of batches as a whole. */
export function createFindings(database: Database): Findings {
  return {
    async fileFindings(batchId) {
      const rows = await database.query<{ finding: string }>(LIST_FINDINGS, [batchId]);
      return rows.map((row) => JSON.parse(row.finding) as Finding);
    },

    async decidingFindings(batchIds) {
      const rows = await database.query<{ batch_id: string; finding: string }>(DECIDING_FINDINGS, [
        arrayLiteral(batchIds),
      ]);
      const found = new Map<string, Finding[]>();
      for (const { batch_id: batchId, finding } of rows) {
        const findings = found.get(batchId) ?? [];
        findings.push(JSON.parse(finding) as Finding);
        found.set(batchId, findings);
      }
      return found;
    },

    noteTotals: (batch, finding) => noteTotals(database, batch, finding),

    overruleTotals: (batch, by) => overruleTotals(database, batch, by),
  };
}
