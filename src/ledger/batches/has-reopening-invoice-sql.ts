import { REOPENING_STATES } from '../../domain/invoice-state.ts';
import { stateList } from '../database/states.ts';

/** batchId: is there anything in it that a closed batch is opened again for? */
export const HAS_REOPENING_INVOICE = `/* has-reopening-invoice */
SELECT EXISTS (
  SELECT 1 FROM batch_invoice bi JOIN invoice i ON i.invoice_id = bi.invoice_id
  WHERE bi.batch_id = $1 AND bi.outcome IS NULL AND i.state IN ${stateList(REOPENING_STATES)}
) AS found`;
