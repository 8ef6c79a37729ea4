import { type Alarms, type Context, reasonOf } from './context.ts';
import { applicationOf } from './application.ts';
import type { Engine, InvoiceBody } from './engine.ts';
import type { InvoiceError, InvoiceRecord, DeliveryRecord, EventType, WebhookRecord } from './store.ts';
import type { Deliverer } from './deliverer.ts';

// The client that waits for the POST has a timeout, which a receiver that does not answer must not use up.
const EARLY_PATIENCE_MS = 2000;

/** Takes invoices from `processing` to `issued` or `failed`, once. */
export type Settlement = ReturnType<typeof createSettlement>;

/** Creates the settlement of one sandbox. An invoice that it cannot settle waits for the next start. */
export function createSettlement(given: {
  readonly context: Context;
  readonly engine: Engine;
  readonly deliverer: Deliverer;
  readonly alarms: Alarms;
}) {
  const { context, engine, deliverer, alarms } = given;

  async function settle(invoice: InvoiceRecord, isEarly: boolean): Promise<void> {
    const { id, applicationId, body: text, createdAt } = invoice;
    if (context.chance.decide('neverSettle', invoice.bodySha256)) return;
    const body = JSON.parse(text) as InvoiceBody;
    const { delayMs, outcome } = await engine.process({ id, applicationId, body, text });
    const waitMs = Math.max(0, createdAt + delayMs - context.clock());
    if (!isEarly) await new Promise<void>((resolve) => alarms.after(waitMs, resolve));
    const error = outcome.status === 'issued' ? null : { code: outcome.code, message: outcome.message };
    const settledAt = context.clock();
    const webhooks = [...applicationOf(context.applications, applicationId).webhooks.values()];
    const deliveries = webhooks.flatMap((webhook) => deliveriesTo(webhook, context, { invoice, error, settledAt }));
    await context.commit([
      { kind: 'invoice', record: { ...invoice, status: outcome.status, error, settledAt } },
      ...deliveries.map((record) => ({ kind: 'delivery' as const, record })),
    ]);
    await deliverer.enqueue(deliveries);
  }

  async function trySettle(invoice: InvoiceRecord, isEarly: boolean): Promise<void> {
    await settle(invoice, isEarly).catch((error: unknown) =>
      context.log.error('An invoice could not be settled.', { invoiceId: invoice.id, reason: reasonOf(error) }),
    );
  }

  return {
    /** Settles the invoice when the engine gives its verdict. */
    accept: (invoice: InvoiceRecord) => void trySettle(invoice, false),
    /** Settles the invoice at once and waits for an attempt to deliver its events (fault `webhookEarly`). */
    async settleNow(invoice: InvoiceRecord): Promise<void> {
      const patience = new Promise<void>((resolve) => setTimeout(resolve, EARLY_PATIENCE_MS).unref());
      await Promise.race([trySettle(invoice, true), patience]);
    },
  };
}

/** The final verdict on one invoice. `error` is null if it was issued; `settledAt` is epoch milliseconds. */
interface Settled {
  readonly invoice: InvoiceRecord;
  readonly error: InvoiceError | null;
  readonly settledAt: number;
}

const OPPOSITE_ERROR: InvoiceError = { code: 'simulated_contradiction', message: 'A fault of the sandbox says this.' };

/** Returns the deliveries of a settled invoice to one endpoint, including the faults that the seed decides for it. */
function deliveriesTo(
  webhook: WebhookRecord,
  context: Context,
  { invoice, error, settledAt }: Settled,
): readonly DeliveryRecord[] {
  const { chance, faults, newId } = context;
  // Content decides the faults, because the identifier differs in every run.
  const { id: invoiceId, applicationId, bodySha256: subject } = invoice;
  const deliveries: DeliveryRecord[] = [];
  function deliver(body: string, delayMs: number, forged = false): void {
    const owed = { id: newId('dlv_'), applicationId, webhookId: webhook.id, invoiceId };
    deliveries.push({ ...owed, body, forged, attempts: 0, nextAttemptAt: settledAt + delayMs });
  }

  /** Returns the text to sign and send. */
  function event(id: string, says: InvoiceError | null): string {
    const data = says === null ? { id } : { id, error: says };
    const created_at = new Date(settledAt).toISOString();
    return JSON.stringify({ id: newId('evt_'), type: eventType(says), created_at, data });
  }

  const opposite = error === null ? OPPOSITE_ERROR : null;
  if (webhook.events.includes(eventType(opposite))) {
    if (chance.decide('contradictoryEvents', subject)) deliver(event(invoiceId, opposite), 0);
    if (chance.decide('webhookForged', subject)) deliver(event(invoiceId, opposite), 0, true);
  }
  if (webhook.events.includes(eventType(error))) {
    if (chance.decide('webhookStray', subject)) deliver(event(newId('inv_'), error), 0);
    const body = event(invoiceId, error);
    const lateMs = Math.round(faults.lateMs * chance.fraction('late', subject));
    const delayMs = chance.decide('webhookLate', subject) ? lateMs : 0;
    if (!chance.decide('webhookDropped', subject)) deliver(body, delayMs);
    if (chance.decide('webhookDuplicated', subject)) deliver(body, delayMs);
  }
  return deliveries;
}

/** Returns the event type of a settled invoice. */
function eventType(error: InvoiceError | null): EventType {
  return error === null ? 'invoice.issued' : 'invoice.failed';
}

/** The parts of one sandbox that its operations share. */
export interface Services {
  readonly context: Context;
  readonly settlement: Settlement;
}
