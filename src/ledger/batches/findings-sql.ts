import { TOTALS_DIFFER } from '../../domain/control-totals.ts';

/** How a finding of this code is stored: as JSON, in which a quote inside a text has a backslash before it. */
const withCode = (code: string): string => `f.finding LIKE '%"code":"${code}"%'`;

/** `f` is a finding that control totals differ. */
export const IS_DIFFERENCE = withCode(TOTALS_DIFFER);

/** `f` is a totals row, which is in no invoice and is not lost. */
export const IS_TOTALS_ROW = withCode('totals-row');

/** `f` says that rows were lost. */
export const IS_ROWS_LOST = withCode('rows-lost');

/** batchId, seqs, findings (JSON). */
export const INSERT_FINDINGS = `/* insert-findings */
INSERT INTO finding (batch_id, seq, finding)
SELECT $1, u.seq, u.finding FROM unnest($2::integer[], $3::text[]) AS u(seq, finding)`;

/** batchId. */
export const LIST_FINDINGS = `/* list-findings */
SELECT finding FROM finding WHERE batch_id = $1 ORDER BY seq`;

/** batchIds. */
export const DECIDING_FINDINGS = `/* deciding-findings */
SELECT f.batch_id, f.finding FROM finding f
WHERE f.batch_id = ANY ($1::text[]) AND (${IS_DIFFERENCE} OR ${IS_TOTALS_ROW})
ORDER BY f.batch_id, f.seq`;
