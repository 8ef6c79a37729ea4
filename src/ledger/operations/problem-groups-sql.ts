import { UNTROUBLED_OUTCOMES } from '../../domain/invoice-state.ts';
import { BATCH_INVOICE_TABLES } from '../batches/batch-invoices-sql.ts';
import { stateList } from '../database/states.ts';

export interface ProblemGroupRow {
  readonly state: string;
  readonly code: string;
  readonly invoices: number;
  readonly file_rows: readonly number[];
}

/**
 * batchId, how many rows of each group, how many groups. What did not go out and is at rest, by state and reason; of an invalid invoice
 * the first finding is the reason.
 */
export const PROBLEM_GROUPS = `/* problem-groups */
SELECT state, code, count(*) AS invoices, 
  coalesce(array_agg(file_row ORDER BY ordinal) FILTER (WHERE place <= $2::integer), '{}') AS file_rows
FROM (
  SELECT state, code, ordinal, file_row, row_number() OVER (PARTITION BY state, code ORDER BY ordinal) AS place
  FROM (
    SELECT coalesce(bi.outcome, i.state) AS state, bi.ordinal, bi.file_rows[1] AS file_row,
      coalesce(bi.reason_code, CASE WHEN bi.generation IS NULL THEN i.reason_code ELSE g.reason_code END,
        (SELECT f.value ->> 'code' FROM json_array_elements(bi.findings::json) f WHERE f.value ->> 'severity' = 'error' LIMIT 1),
        'no-reason') AS code
    FROM ${BATCH_INVOICE_TABLES}
    WHERE bi.batch_id = $1
      AND coalesce(bi.outcome, i.state) NOT IN ${stateList(UNTROUBLED_OUTCOMES)}
  ) problem
) ranked
GROUP BY state, code
ORDER BY invoices DESC, state, code
LIMIT $3`;
