import type { EventType, InvoiceError } from '../records.ts';

export interface EventFields {
  readonly id: string;
  readonly invoiceId: string;
  readonly error: InvoiceError | null;
  readonly at: number;
}

/** The body of a delivery, as the text that is signed and sent. */
export function eventBody({ id, invoiceId, error, at }: EventFields): string {
  const data = error === null ? { id: invoiceId } : { id: invoiceId, error };
  return JSON.stringify({ id, type: eventType(error), created_at: new Date(at).toISOString(), data });
}

/** The event of a settled invoice. */
export function eventType(error: InvoiceError | null): EventType {
  return error === null ? 'invoice.issued' : 'invoice.failed';
}
