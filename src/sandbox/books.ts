import type { Applications } from './application.ts';
import type { InvoiceRecord } from './store.ts';

/** Totals and invoices that a test or an operator compares with its own. */
export type Books = ReturnType<typeof readBooksOf>;

type BookedInvoice = Pick<InvoiceRecord, 'id' | 'applicationId' | 'idempotencyKey' | 'bodySha256'>;

/** Returns the books of one application, or of all applications. */
export function readBooksOf(applications: Applications, ofApplication?: string) {
  const chosen = [...applications.values()].filter(({ id }) => ofApplication === undefined || id === ofApplication);
  const records = chosen.flatMap((one) => [...one.invoices.values()]);
  const invoices = records.map(({ id, applicationId, merchantId, status, error, idempotencyKey, bodySha256 }) => {
    return { id, applicationId, merchantId, status, idempotencyKey, bodySha256, errorCode: error?.code ?? null };
  });
  const sum = (amount: (one: (typeof chosen)[number]) => number): number =>
    chosen.reduce((total, one) => total + amount(one), 0);
  const countOf = (wanted: InvoiceRecord['status']): number =>
    invoices.filter(({ status }) => status === wanted).length;
  return {
    totals: {
      invoices: invoices.length,
      processing: countOf('processing'),
      issued: countOf('issued'),
      failed: countOf('failed'),
      merchants: sum(({ merchants }) => merchants.size),
      webhooks: sum(({ webhooks }) => webhooks.size),
      deliveriesPending: sum(({ deliveriesPending }) => deliveriesPending.size),
      /** Deliveries that failed in every attempt. */
      deliveriesGivenUp: sum(({ deliveriesGivenUp }) => deliveriesGivenUp),
    },
    /**
     * Groups of invoices that look like one invoice sent twice: the same bytes, or the same key. The published fields
     * have no reference of the client, so a test must give each invoice different content.
     */
    duplicates: [
      ...duplicatesBy('body', invoices, ({ bodySha256 }) => bodySha256),
      ...duplicatesBy('idempotency-key', invoices, ({ idempotencyKey }) => idempotencyKey),
    ],
    invoices,
  };
}

function duplicatesBy(
  by: 'body' | 'idempotency-key',
  invoices: readonly BookedInvoice[],
  valueOf: (invoice: BookedInvoice) => string | null,
) {
  const groups = new Map<string, { by: typeof by; applicationId: string; value: string; ids: string[] }>();
  for (const invoice of invoices) {
    const { id, applicationId } = invoice;
    const value = valueOf(invoice);
    if (value === null) continue;
    const place = `${applicationId} ${value}`;
    const group = groups.get(place) ?? { by, applicationId, value, ids: [] };
    group.ids.push(id);
    groups.set(place, group);
  }
  return [...groups.values()].filter(({ ids }) => ids.length > 1);
}
