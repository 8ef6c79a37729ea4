import { CONTRADICTIONS, OUTCOMES, wentOut } from '../../domain/invoice-state.ts';
import { stateList } from '../database/states.ts';

/** The other documents of invoice `i`: of earlier generations, of the one that it replaced, or the second one of a key. */
const OTHER_DOCUMENT = 'g.invoice_id = i.invoice_id AND g.service_id IS NOT NULL AND g.service_id <> i.service_id';

/** The flag stays when the second document has failed, and when it is the one that was issued: then there is one document. A flag without a document is an id that another invoice has. */
const MAY_EXIST_TWICE = `i.flags @> '{second-service-id}' AND (
  EXISTS (SELECT FROM invoice_generation g WHERE ${OTHER_DOCUMENT} AND g.state <> 'failed')
  OR NOT EXISTS (SELECT FROM invoice_generation g WHERE g.invoice_id = i.invoice_id AND g.generation < 0))`;

/** The flag stays when the later generation has failed: then the earlier document is the invoice. */
const EXISTS_TWICE = `i.flags @> '{issued-in-earlier-generation}' AND EXISTS (
  SELECT FROM invoice_generation g WHERE ${OTHER_DOCUMENT} AND g.state = 'issued')`;

/** Only a flag of these may say so. */
const MAY_BE_CONTRADICTED = `i.flags && '{${CONTRADICTIONS.join(',')}}'`;

/**
 * text[]: why line `bi` of a batch, which went out, is in doubt (invoice `i`, or none). Empty for all others. A line whose content was corrected by a later
 * batch shows what it held; the doubt is said of the later one. Costs nothing where there is no flag.
 */
export const CONTRADICTIONS_OF_LINE = `CASE
  WHEN ${MAY_BE_CONTRADICTED} AND bi.generation IS NULL AND coalesce(bi.outcome, i.state) IN ${stateList(OUTCOMES.filter(wentOut))}
  THEN array_remove(ARRAY[
    CASE WHEN ${MAY_EXIST_TWICE} THEN 'second-service-id' END,
    CASE WHEN ${EXISTS_TWICE} THEN 'issued-in-earlier-generation' END,
    CASE WHEN i.flags @> '{failed-after-issued}' THEN 'failed-after-issued' END
  ]::text[], NULL)
  ELSE '{}'::text[] END`;

/** The lines of these batches (an SQL condition on `bi.batch_id`) that are in doubt, found through the index of the few invoices with a flag. */
export function contradictedLines(ofBatches: string): string {
  return `FROM invoice i JOIN batch_invoice bi ON bi.invoice_id = i.invoice_id AND ${ofBatches}
  WHERE i.flags <> '{}' AND ${MAY_BE_CONTRADICTED} AND cardinality(${CONTRADICTIONS_OF_LINE}) > 0`;
}

/** batchIds, how many references of each. */
export const CONTRADICTED_INVOICES = `/* contradicted-invoices */
SELECT bi.batch_id, count(*) AS invoices, (array_agg(bi.invoice_ref ORDER BY bi.ordinal))[1:$2::integer] AS refs
${contradictedLines('bi.batch_id = ANY ($1::text[])')}
GROUP BY bi.batch_id`;
