import { OPEN_STATES } from '../../domain/invoice-state.ts';
import { PAGE_OF } from '../batches/page-of-sql.ts';
import { stateList } from '../database/states.ts';

export interface SettledRow {
  readonly invoice_id: number;
  readonly batch_id: string;
  readonly workflow_id: string;
  readonly page: number;
  readonly ordinal: number;
  readonly state: string;
}

/** invoiceIds: those at rest, once for every batch that is attached to them and has pages. The second `= ANY` keeps the planner on batch_invoice's index. */
export const SETTLED_INVOICES = `/* settled-invoices */
SELECT i.invoice_id, b.batch_id, b.workflow_id, ${PAGE_OF} AS page, bi.ordinal, i.state
FROM invoice i
JOIN batch_invoice bi ON bi.invoice_id = i.invoice_id AND bi.outcome IS NULL
JOIN batch b ON b.batch_id = bi.batch_id AND b.page_size > 0
WHERE i.invoice_id = ANY($1::bigint[]) AND bi.invoice_id = ANY($1::bigint[]) AND i.state NOT IN ${stateList(OPEN_STATES)}
ORDER BY b.batch_id, bi.ordinal`;
