import { applicationOf } from '../application.ts';
import type { Context } from '../context.ts';
import type { DeliveryRecord, EventType, InvoiceError, InvoiceRecord, WebhookRecord } from '../records.ts';

interface EventFields {
  readonly id: string;
  readonly invoiceId: string;
  readonly error: InvoiceError | null;
  readonly at: number;
}

/** The body of a delivery, as the text that is signed and sent. */
function eventBody({ id, invoiceId, error, at }: EventFields): string {
  const data = error === null ? { id: invoiceId } : { id: invoiceId, error };
  return JSON.stringify({ id, type: eventType(error), created_at: new Date(at).toISOString(), data });
}

/** The event of a settled invoice. */
function eventType(error: InvoiceError | null): EventType {
  return error === null ? 'invoice.issued' : 'invoice.failed';
}

export interface SettledInvoice {
  readonly invoice: InvoiceRecord;
  readonly error: InvoiceError | null;
  readonly at: number;
}

/** The deliveries that a settled invoice makes, the faults that the seed has in store for it included. */
export function planDeliveries(context: Context, settled: SettledInvoice): readonly DeliveryRecord[] {
  const { webhooks } = applicationOf(context.applications, settled.invoice.applicationId);
  return [...webhooks.values()].flatMap((webhook) => deliveriesTo(webhook, context, settled));
}

const OPPOSITE_ERROR: InvoiceError = { code: 'simulated_contradiction', message: 'A fault of the sandbox says this.' };

function deliveriesTo(webhook: WebhookRecord, context: Context, settled: SettledInvoice): readonly DeliveryRecord[] {
  const { chance, newId } = context;
  const { invoice, error, at } = settled;
  // Of the content and not of the identifier, which is another one in every run.
  const subject = invoice.bodySha256;

  function delivery(body: string, delayMs: number, forged: boolean): DeliveryRecord {
    return {
      id: newId('dlv_'),
      applicationId: invoice.applicationId,
      webhookId: webhook.id,
      invoiceId: invoice.id,
      body,
      forged,
      attempts: 0,
      nextAttemptAt: at + delayMs,
    };
  }

  function event(invoiceId: string, says: InvoiceError | null): string {
    return eventBody({ id: newId('evt_'), invoiceId, error: says, at });
  }

  function subscribed(says: InvoiceError | null): boolean {
    return webhook.events.includes(eventType(says));
  }

  const opposite = error === null ? OPPOSITE_ERROR : null;
  const deliveries: DeliveryRecord[] = [];
  const delayMs = delayOf(context, subject);
  if (subscribed(opposite)) {
    if (chance.decide('contradictoryEvents', subject)) deliveries.push(delivery(event(invoice.id, opposite), 0, false));
    if (chance.decide('webhookForged', subject)) deliveries.push(delivery(event(invoice.id, opposite), 0, true));
  }
  if (subscribed(error)) {
    if (chance.decide('webhookStray', subject)) deliveries.push(delivery(event(newId('inv_'), error), 0, false));
    const body = event(invoice.id, error);
    if (!chance.decide('webhookDropped', subject)) deliveries.push(delivery(body, delayMs, false));
    if (chance.decide('webhookDuplicated', subject)) deliveries.push(delivery(body, delayMs, false));
  }
  return deliveries;
}

function delayOf({ chance, faults }: Context, subject: string): number {
  const late = chance.decide('webhookLate', subject) ? faults.lateMs : 0;
  const held = chance.decide('webhookReordered', subject) ? faults.reorderMs * chance.fraction('reorder', subject) : 0;
  return Math.round(late + held);
}
