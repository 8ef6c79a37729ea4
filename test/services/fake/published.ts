import { list, number, object, text, type Found, type Shape } from './body-shape.ts';
import type { BookedMerchant, InvoiceContent, InvoiceLine, Problem, Reply, Requests } from './family.ts';

/** A name of an event, in a list of them. */
export const eventNames: Shape = (value) =>
  Array.isArray(value) &&
  value.length === 2 &&
  ['invoice.issued', 'invoice.failed'].every((name) => value.includes(name))
    ? null
    : 'events must be invoice.issued and invoice.failed';

/** The lines of an invoice as the published interface shows them. */
export const PUBLISHED_LINES: Shape = list(
  'lines',
  object({
    description: text('description'),
    quantity: number('quantity'),
    unit_price: number('unitPrice'),
    tax_code: text('taxCode'),
  }),
);

/** The requests as the published interface shows them. */
export const PUBLISHED: Requests = {
  contentType: 'application/json',
  headers: {},
  createInvoice: {
    path: '/v1/invoices',
    shape: object({
      merchant_id: text('merchantId'),
      customer: object({ name: text('customerName'), tax_id: text('customerTaxId') }, ['tax_id']),
      currency: text('currency'),
      lines: PUBLISHED_LINES,
    }),
  },
  getInvoice: '/v1/invoices/{id}',
  createMerchant: {
    path: '/v1/merchants',
    shape: object({ legal_name: text('legalName'), nif: text('nif'), email: text('email') }),
  },
  listMerchants: '/v1/merchants',
  registerWebhook: { path: '/v1/webhooks', shape: object({ url: text('url'), events: eventNames }) },
};

/** An invoice out of what a family's shape has found. */
export function contentOf(found: Found): InvoiceContent {
  const lines = found['lines'] as readonly Found[];
  const { customerTaxId } = found;
  return {
    merchantId: String(found['merchantId']),
    customerName: String(found['customerName']),
    customerTaxId: typeof customerTaxId === 'string' ? customerTaxId : null,
    currency: String(found['currency']),
    lines: lines.map((line): InvoiceLine => ({
      description: String(line['description']),
      quantity: String(line['quantity']),
      unitPrice: String(line['unitPrice']),
      taxCode: String(line['taxCode']),
    })),
  };
}

/** A JSON answer. */
export function json(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Reply {
  return { status, body, headers };
}

const STATUSES: Readonly<Record<Problem['kind'], number>> = {
  refused: 422,
  mismatch: 409,
  'too-fast': 429,
  trouble: 503,
  access: 401,
  'not-found': 404,
};

/** The status that most services give a problem. */
export function statusOf({ kind }: Problem): number {
  return STATUSES[kind];
}

/** Retry-After where the client is too fast. */
export function waitOf({ kind }: Problem): Readonly<Record<string, string>> {
  return kind === 'too-fast' ? { 'retry-after': '1' } : {};
}

/** Merchants from a position on, and the position after them; null: there are none after them. */
export function sliceAt(
  merchants: readonly BookedMerchant[],
  from: number,
  size: number,
): { readonly page: readonly BookedMerchant[]; readonly next: number | null } {
  const page = merchants.slice(from, from + size);
  return { page, next: from + size < merchants.length ? from + size : null };
}

/** A whole number of the query, or what holds without it. */
export function wholeNumber(query: URLSearchParams, name: string, otherwise: number): number {
  const found = Number(query.get(name) ?? otherwise);
  return Number.isSafeInteger(found) && found >= 0 ? found : otherwise;
}
