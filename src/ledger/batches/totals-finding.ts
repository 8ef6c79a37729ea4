import { overruledTotals, type TotalsOverruling } from '../../domain/control-totals.ts';
import type { Finding } from '../../domain/invoice.ts';
import type { BatchWriter } from '../../domain/ports/ledger/batch-record.ts';
import type { Database, Queries } from '../database/database.ts';
import { lockUnderToken } from './claim-proof.ts';
import { IS_DIFFERENCE } from './findings-sql.ts';

/** batchId. */
const DIFFERENCES = `/* differing-totals */
SELECT f.seq, f.finding FROM finding f WHERE f.batch_id = $1 AND ${IS_DIFFERENCE} ORDER BY f.seq`;

/** batchId, seq, finding. */
const REPLACE_FINDING = `/* replace-finding */
UPDATE finding SET finding = $3 WHERE batch_id = $1 AND seq = $2`;

/** batchId, finding: before all others. */
const INSERT_FIRST_FINDING = `/* insert-first-finding */
INSERT INTO finding (batch_id, seq, finding)
SELECT $1, coalesce(min(f.seq), 1) - 1, $2::text FROM finding f WHERE f.batch_id = $1`;

interface DifferenceRow {
  readonly seq: number;
  readonly finding: string;
}

/** Writes down that the control totals of a start differ; in place of what an earlier start differed in, and was not let go. */
export async function noteTotals(database: Database, batch: BatchWriter, finding: Finding): Promise<void> {
  await database.transaction(async (queries) => {
    const [known] = await lockDifferences(queries, batch);
    const text = JSON.stringify(finding);
    if (known === undefined) await queries.query(INSERT_FIRST_FINDING, [batch.batchId, text]);
    else await queries.query(REPLACE_FINDING, [batch.batchId, known.seq, text]);
  });
}

/** Nothing is held for its control totals any more: what was found says so from now on. Nothing where no totals differed. */
export async function overruleTotals(database: Database, batch: BatchWriter, by: TotalsOverruling): Promise<void> {
  await database.transaction(async (queries) => {
    for (const { seq, finding } of await lockDifferences(queries, batch)) {
      const text = JSON.stringify(overruledTotals(JSON.parse(finding) as Finding, by));
      await queries.query(REPLACE_FINDING, [batch.batchId, seq, text]);
    }
  });
}

async function lockDifferences(
  queries: Queries,
  { batchId, fencingToken }: BatchWriter,
): Promise<readonly DifferenceRow[]> {
  await lockUnderToken(queries, batchId, fencingToken);
  return queries.query<DifferenceRow>(DIFFERENCES, [batchId]);
}
