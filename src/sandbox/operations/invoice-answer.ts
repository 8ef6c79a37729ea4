import { jsonAnswer } from '../http/answer.ts';
import type { Answer } from '../http/answer.ts';
import type { InvoiceRecord } from '../records.ts';

/** What the POST answered: always `processing`, so that a repeated request gets the same bytes. */
export function createdInvoiceAnswer(invoice: InvoiceRecord, body: string): Answer {
  return jsonAnswer(
    201,
    withBody({ id: invoice.id, status: 'processing', created_at: isoTime(invoice.createdAt) }, body),
  );
}

/** The invoice as it is now. */
export function invoiceAnswer(invoice: InvoiceRecord, body: string): Answer {
  const { id, status, error, createdAt, settledAt } = invoice;
  const head = {
    id,
    status,
    created_at: isoTime(createdAt),
    ...(settledAt === null ? {} : { settled_at: isoTime(settledAt) }),
    ...(error === null ? {} : { error }),
  };
  return jsonAnswer(200, withBody(head, body));
}

/** Puts the service's own fields before the client's, whose text stays as it came: its decimals are never rounded. */
export function withBody(head: object, body: string): string {
  return `${JSON.stringify(head).slice(0, -1)},${body.trim().slice(1)}`;
}

/** Epoch milliseconds as ISO 8601 text in UTC. */
export function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
