import type { AppliedDeliveries } from '../../domain/ports/ledger/delivery-ledger.ts';
import type { Queries } from '../database/database.ts';
import { arrayLiteral } from '../database/array-literal.ts';
import { applyEvents, applyPastEvents, issueReported, settledInvoices } from '../settling/settled.ts';

/** serviceIds, application: those of them that are documents of this application, now or in an earlier generation. */
const OWN_DOCUMENTS = `/* own-documents */
SELECT service_id FROM invoice WHERE service_id = ANY($1::text[]) AND application = $2
UNION
SELECT g.service_id FROM invoice_generation g JOIN invoice i ON i.invoice_id = g.invoice_id
WHERE g.service_id = ANY($1::text[]) AND i.application = $2`;

/**
 * The same for one of several applications. An id of another one is left alone: what its events say is to be confirmed
 * with another key.
 */
export async function applyDeliveriesOf(
  queries: Queries,
  serviceIds: readonly string[],
  application: string,
): Promise<AppliedDeliveries> {
  const own = await queries.query<{ service_id: string }>(OWN_DOCUMENTS, [arrayLiteral(serviceIds), application]);
  return applyDeliveries(
    queries,
    own.map((row) => row.service_id),
  );
}

/** Stored events of these service ids, applied to this generation of their invoices or to an earlier one; ids nobody knows stay unmatched. */
export async function applyDeliveries(queries: Queries, serviceIds: readonly string[]): Promise<AppliedDeliveries> {
  const ids = [...new Set(serviceIds)];
  const issued = await issueReported(queries, ids);
  const others = ids.filter((id) => !issued.has(id));
  const applied = await applyEvents(queries, others);
  const known = new Set(applied.map((row) => row.service_id));
  const past = await applyPastEvents(
    queries,
    others.filter((id) => !known.has(id)),
  );
  const settled = await settledInvoices(
    queries,
    applied.filter((row) => row.state !== 'accepted').map((row) => row.invoice_id),
  );
  const unconfirmed = applied.filter((row) => row.to_confirm);
  const contradicted = applied.filter((row) => row.contradicted);
  // What is to be confirmed is announced when the GET has spoken.
  for (const row of unconfirmed) settled.delete(row.invoice_id);
  return {
    settled: [...Array.from(issued.values(), (one) => one.settled), ...settled.values(), ...past.values()].flat(),
    toConfirm: unconfirmed.map((row) => ({ invoiceId: row.invoice_id, serviceId: row.service_id })),
    ...(contradicted.length > 0 && { contradicted: contradicted.map((row) => row.service_id) }),
  };
}
