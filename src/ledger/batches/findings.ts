import { overruledTotals, TOTALS_DIFFER, type TotalsOverruling } from '../../domain/control-totals.ts';
import type { Finding } from '../../domain/invoice.ts';
import type { BatchWriter } from '../../domain/records/batch-record.ts';
import type { Database } from '../../database/database.ts';
import { arrayLiteral } from '../sql.ts';
import { lockBatch } from './batch.ts';

/** Matches findings by code. They are stored as JSON, where a backslash precedes each quote inside a text, so a text cannot match. */
const withCode = (code: string): string => `f.finding LIKE '%"code":"${code}"%'`;

/** SQL condition: finding `f` says that control totals differ. */
export const IS_DIFFERENCE = withCode(TOTALS_DIFFER);

/** SQL condition: finding `f` is about a totals row, which belongs to no invoice and is not lost. */
export const IS_TOTALS_ROW = withCode('totals-row');

/** SQL condition: finding `f` counts rows that a mapping profile excludes from all invoices. */
export const IS_ROWS_SKIPPED = withCode('rows-skipped');

/** SQL condition: finding `f` says that rows were lost. */
export const IS_ROWS_LOST = withCode('rows-lost');

const LIST_FINDINGS = `/* list-findings */
SELECT finding::json AS finding FROM finding WHERE batch_id = $1 ORDER BY seq`;

/** Parameters: batchId, finding (JSON). Writes a finding once. The last report lacks it, so `news` marks the report as outdated. */
const NOTE_FINDING = `/* note-finding */
WITH noted AS (
  INSERT INTO finding (batch_id, seq, finding)
  SELECT b.batch_id, coalesce((SELECT max(f.seq) FROM finding f WHERE f.batch_id = b.batch_id), 0) + 1, $2
  FROM batch b
  WHERE b.batch_id = $1 AND NOT EXISTS (SELECT FROM finding f WHERE f.batch_id = b.batch_id AND f.finding = $2)
  RETURNING batch_id)
UPDATE batch b SET news = b.news + 1 FROM noted n WHERE b.batch_id = n.batch_id`;

const DECIDING_FINDINGS = `/* deciding-findings */
SELECT f.batch_id, json_agg(f.finding::json ORDER BY f.seq) AS findings FROM finding f
WHERE f.batch_id = ANY ($1::text[]) AND (${IS_DIFFERENCE} OR ${IS_TOTALS_ROW} OR ${IS_ROWS_SKIPPED})
GROUP BY f.batch_id`;

const FORGET_DIFFERENCES = `/* forget-differing-totals */
DELETE FROM finding f WHERE f.batch_id = $1 AND ${IS_DIFFERENCE} RETURNING f.finding::json AS finding`;

/** Parameters: batchId, finding. The finding comes before all others. */
const INSERT_FIRST_FINDING = `/* insert-first-finding */
INSERT INTO finding (batch_id, seq, finding)
SELECT $1, coalesce(min(f.seq), 1) - 1, $2::text FROM finding f WHERE f.batch_id = $1`;

/** Findings about the files of batches as a whole. */
export function createFindings(database: Database) {
  return {
    async fileFindings(batchId: string): Promise<readonly Finding[]> {
      return (await database.query<{ finding: Finding }>(LIST_FINDINGS, [batchId])).map(({ finding }) => finding);
    },

    /** Returns the findings that decide whether the whole file was sent: totals rows, skipped rows, differing totals. A batch without any has no entry. */
    async decidingFindings(batchIds: readonly string[]): Promise<ReadonlyMap<string, readonly Finding[]>> {
      const rows = await database.query<{ batchId: string; findings: readonly Finding[] }>(DECIDING_FINDINGS, [
        arrayLiteral(batchIds),
      ]);
      return new Map(rows.map(({ batchId, findings }) => [batchId, findings]));
    },

    /** Adds a finding to those of the file, unless it is there already, and marks the batch's report as outdated. */
    async noteFinding(batchId: string, finding: Finding): Promise<void> {
      await database.query(NOTE_FINDING, [batchId, JSON.stringify(finding)]);
    },

    /**
     * Writes before the other findings that the control totals of a start differ. Replaces the finding of an earlier start.
     * @throws LoteError `batch-not-found`, `claim-lost`, `ledger-conflict`
     */
    noteTotals: (batch: BatchWriter, finding: Finding) => changeTotals(database, batch, () => finding),

    /**
     * Changes the finding that control totals differ, if there is one: it then says that they no longer hold the batch.
     * @throws LoteError `batch-not-found`, `claim-lost`, `ledger-conflict`
     */
    overruleTotals: (batch: BatchWriter, by: TotalsOverruling) =>
      changeTotals(database, batch, (known) => known && overruledTotals(known, by)),
  };
}

async function changeTotals(
  database: Database,
  batch: BatchWriter,
  next: (known: Finding | null) => Finding | null,
): Promise<void> {
  await database.transaction(async (queries) => {
    const { batchId } = await lockBatch(queries, batch);
    const [known] = await queries.query<{ finding: Finding }>(FORGET_DIFFERENCES, [batchId]);
    const finding = next(known?.finding ?? null);
    if (finding !== null) await queries.query(INSERT_FIRST_FINDING, [batchId, JSON.stringify(finding)]);
  });
}
