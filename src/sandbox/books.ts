import type { Applications, Application } from './application.ts';
import type { InvoiceStatus } from './records.ts';

/** What a test, or an operator, compares with its own books. */
export interface Books {
  readonly totals: {
    readonly invoices: number;
    readonly processing: number;
    readonly issued: number;
    readonly failed: number;
    readonly merchants: number;
    readonly webhooks: number;
    readonly deliveriesPending: number;
    readonly deliveriesGivenUp: number;
  };
  /**
   * Groups of invoices that look like one invoice sent twice: the same bytes, or the same key.
   *
   * The published fields hold no reference of the client, so two honest invoices with the same content are listed too:
   * a test gives each invoice content of its own.
   */
  readonly duplicates: readonly DuplicateGroup[];
  readonly invoices: readonly BookedInvoice[];
}

export interface DuplicateGroup {
  readonly by: 'body' | 'idempotency-key';
  readonly applicationId: string;
  readonly value: string;
  readonly ids: readonly string[];
}

export interface BookedInvoice {
  readonly id: string;
  readonly applicationId: string;
  readonly merchantId: string;
  readonly status: InvoiceStatus;
  readonly idempotencyKey: string | null;
  readonly bodySha256: string;
  readonly errorCode: string | null;
}

/** The books of one application, or of all of them. */
export function readBooksOf(applications: Applications, applicationId?: string): Books {
  const chosen = [...applications.values()].filter(({ id }) => applicationId === undefined || id === applicationId);
  const invoices = chosen.flatMap(bookedInvoices);
  return {
    totals: {
      invoices: invoices.length,
      processing: countOf(invoices, 'processing'),
      issued: countOf(invoices, 'issued'),
      failed: countOf(invoices, 'failed'),
      merchants: sum(chosen, ({ merchants }) => merchants.size),
      webhooks: sum(chosen, ({ webhooks }) => webhooks.size),
      deliveriesPending: sum(chosen, ({ deliveriesPending }) => deliveriesPending.size),
      deliveriesGivenUp: sum(chosen, ({ deliveriesGivenUp }) => deliveriesGivenUp),
    },
    duplicates: [
      ...duplicatesBy('body', invoices, ({ bodySha256 }) => bodySha256),
      ...duplicatesBy('idempotency-key', invoices, ({ idempotencyKey }) => idempotencyKey),
    ],
    invoices,
  };
}

function bookedInvoices(application: Application): readonly BookedInvoice[] {
  return [...application.invoices.values()].map((invoice) => ({
    id: invoice.id,
    applicationId: invoice.applicationId,
    merchantId: invoice.merchantId,
    status: invoice.status,
    idempotencyKey: invoice.idempotencyKey,
    bodySha256: invoice.bodySha256,
    errorCode: invoice.error?.code ?? null,
  }));
}

function countOf(invoices: readonly BookedInvoice[], status: InvoiceStatus): number {
  return sum(invoices, (invoice) => (invoice.status === status ? 1 : 0));
}

function sum<T>(items: readonly T[], amount: (item: T) => number): number {
  return items.reduce((total, item) => total + amount(item), 0);
}

function duplicatesBy(
  by: DuplicateGroup['by'],
  invoices: readonly BookedInvoice[],
  valueOf: (invoice: BookedInvoice) => string | null,
): readonly DuplicateGroup[] {
  const groups = new Map<string, { applicationId: string; value: string; ids: string[] }>();
  for (const invoice of invoices) {
    const value = valueOf(invoice);
    if (value === null) continue;
    const place = `${invoice.applicationId} ${value}`;
    const group = groups.get(place);
    if (group === undefined) groups.set(place, { applicationId: invoice.applicationId, value, ids: [invoice.id] });
    else group.ids.push(invoice.id);
  }
  return [...groups.values()].filter(({ ids }) => ids.length > 1).map((group) => ({ by, ...group }));
}
