import { type Alarms, type Context, reasonOf } from './context.ts';
import { applicationOf } from './application.ts';
import type { Engine, EngineOutcome, EngineVerdict } from './engine.ts';
import type { InvoiceError, InvoiceRecord, DeliveryRecord, EventType, WebhookRecord } from './store.ts';
import type { Deliverer } from './deliverer.ts';
import type { InvoiceBody } from './invoice-body.ts';

/**
 * Takes invoices from `processing` to `issued` or `failed`, once.
 *
 *     processing --engine: issued--> issued
 *     processing --engine: failed--> failed
 */
export interface Settlement {
  /** Settles the invoice when the engine gives its verdict. */
  accept(invoice: InvoiceRecord, body: InvoiceBody): void;
  /** Settles the invoice at once and waits for an attempt to deliver its events (fault `webhookEarly`). */
  settleNow(invoice: InvoiceRecord, body: InvoiceBody): Promise<void>;
}

export interface SettlementOptions {
  readonly context: Context;
  readonly engine: Engine;
  readonly deliverer: Deliverer;
  readonly alarms: Alarms;
}

const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 60_000;
// The client that waits for the POST has a timeout, which a receiver that does not answer must not use up.
const EARLY_PATIENCE_MS = 2000;

/** Creates the settlement of one sandbox. Retries an invoice that it cannot settle until `alarms` stops. */
export function createSettlement({ context, engine, deliverer, alarms }: SettlementOptions): Settlement {
  async function ask({ id, applicationId, body: text }: InvoiceRecord, body: InvoiceBody): Promise<EngineVerdict> {
    return engine.process({ id, applicationId, body, text });
  }

  async function settle(invoice: InvoiceRecord, outcome: EngineOutcome): Promise<void> {
    const { applications } = context;
    if (applicationOf(applications, invoice.applicationId).invoices.get(invoice.id)?.status !== 'processing') {
      return;
    }
    const at = context.clock();
    const error = outcome.status === 'issued' ? null : { code: outcome.code, message: outcome.message };
    const { webhooks } = applicationOf(applications, invoice.applicationId);
    const deliveries = [...webhooks.values()].flatMap((webhook) =>
      deliveriesTo(webhook, context, { invoice, error, at }),
    );
    const settlement = { invoiceId: invoice.id, applicationId: invoice.applicationId, error, settledAt: at };
    await context.commit([
      { kind: 'settlement', settlement },
      ...deliveries.map((delivery) => ({ kind: 'delivery' as const, delivery })),
    ]);
    await deliverer.enqueue(deliveries);
  }

  // The engine or the store may be unavailable for a while. The invoice stays `processing` meanwhile, even across a
  // restart.
  function keepTrying(invoice: InvoiceRecord, work: () => Promise<unknown>, delayMs = FIRST_RETRY_MS): void {
    work().catch((error: unknown) => {
      context.log.warn('An invoice could not be settled yet.', { invoiceId: invoice.id, reason: reasonOf(error) });
      alarms.after(delayMs, () => keepTrying(invoice, work, Math.min(delayMs * 2, LONGEST_RETRY_MS)));
    });
  }

  function isStuck({ bodySha256 }: InvoiceRecord): boolean {
    return context.chance.decide('neverSettle', bodySha256);
  }

  function accept(invoice: InvoiceRecord, body: InvoiceBody): void {
    if (isStuck(invoice)) return;
    keepTrying(invoice, async () => {
      const { delayMs, outcome } = await ask(invoice, body);
      const remainingMs = invoice.createdAt + delayMs - context.clock();
      alarms.after(remainingMs, () => keepTrying(invoice, () => settle(invoice, outcome)));
    });
  }

  async function trySettle(invoice: InvoiceRecord, body: InvoiceBody): Promise<void> {
    if (isStuck(invoice)) return;
    try {
      const { outcome } = await ask(invoice, body);
      await settle(invoice, outcome);
    } catch {
      accept(invoice, body);
    }
  }

  return {
    accept,
    async settleNow(invoice, body) {
      const patience = new Promise<void>((resolve) => setTimeout(resolve, EARLY_PATIENCE_MS).unref());
      await Promise.race([trySettle(invoice, body), patience]);
    },
  };
}

/** Returns the event type of a settled invoice. */
function eventType(error: InvoiceError | null): EventType {
  return error === null ? 'invoice.issued' : 'invoice.failed';
}

interface SettledInvoice {
  readonly invoice: InvoiceRecord;
  readonly error: InvoiceError | null;
  readonly at: number;
}

const OPPOSITE_ERROR: InvoiceError = { code: 'simulated_contradiction', message: 'A fault of the sandbox says this.' };

/** Returns the deliveries of a settled invoice to one endpoint, including the faults that the seed decides for it. */
function deliveriesTo(webhook: WebhookRecord, context: Context, settled: SettledInvoice): readonly DeliveryRecord[] {
  const { chance, newId } = context;
  const { invoice, error, at } = settled;
  // Faults depend on the content, because the identifier differs in every run.
  const subject = invoice.bodySha256;

  const deliveries: DeliveryRecord[] = [];
  function deliver(body: string, delayMs: number, forged = false): void {
    const { id: invoiceId, applicationId } = invoice;
    const owed = { id: newId('dlv_'), applicationId, webhookId: webhook.id, invoiceId };
    deliveries.push({ ...owed, body, forged, attempts: 0, nextAttemptAt: at + delayMs });
  }

  /** Returns the text to sign and send. */
  function event(invoiceId: string, says: InvoiceError | null): string {
    const data = says === null ? { id: invoiceId } : { id: invoiceId, error: says };
    return JSON.stringify({ id: newId('evt_'), type: eventType(says), created_at: new Date(at).toISOString(), data });
  }

  function subscribed(says: InvoiceError | null): boolean {
    return webhook.events.includes(eventType(says));
  }

  const opposite = error === null ? OPPOSITE_ERROR : null;
  const delayMs = delayOf(context, subject);
  if (subscribed(opposite)) {
    if (chance.decide('contradictoryEvents', subject)) deliver(event(invoice.id, opposite), 0);
    if (chance.decide('webhookForged', subject)) deliver(event(invoice.id, opposite), 0, true);
  }
  if (subscribed(error)) {
    if (chance.decide('webhookStray', subject)) deliver(event(newId('inv_'), error), 0);
    const body = event(invoice.id, error);
    if (!chance.decide('webhookDropped', subject)) deliver(body, delayMs);
    if (chance.decide('webhookDuplicated', subject)) deliver(body, delayMs);
  }
  return deliveries;
}

function delayOf({ chance, faults }: Context, subject: string): number {
  const late = chance.decide('webhookLate', subject) ? faults.lateMs : 0;
  const held = chance.decide('webhookReordered', subject) ? faults.reorderMs * chance.fraction('reorder', subject) : 0;
  return Math.round(late + held);
}
