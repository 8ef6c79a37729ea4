import { type Alarms, type Context, reasonOf, type Settlement } from './context.ts';
import { applicationOf } from './application.ts';
import type { Engine, EngineOutcome, EngineVerdict, InvoiceBody } from './engine.ts';
import type { InvoiceError, InvoiceRecord, DeliveryRecord, EventType, Settled, WebhookRecord } from './store.ts';
import type { Deliverer } from './deliverer.ts';

const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 60_000;
// The client that waits for the POST has a timeout, which a receiver that does not answer must not use up.
const EARLY_PATIENCE_MS = 2000;

/** Creates the settlement of one sandbox. Retries an invoice that it cannot settle until `alarms` stops. */
export function createSettlement(given: {
  readonly context: Context;
  readonly engine: Engine;
  readonly deliverer: Deliverer;
  readonly alarms: Alarms;
}): Settlement {
  const { context, engine, deliverer, alarms } = given;

  async function ask({ id, applicationId, body: text }: InvoiceRecord): Promise<EngineVerdict> {
    return engine.process({ id, applicationId, body: JSON.parse(text) as InvoiceBody, text });
  }

  async function settle({ id, applicationId, bodySha256 }: InvoiceRecord, outcome: EngineOutcome): Promise<void> {
    const { invoices, webhooks } = applicationOf(context.applications, applicationId);
    if (invoices.get(id)?.status !== 'processing') return;
    const error = outcome.status === 'issued' ? null : { code: outcome.code, message: outcome.message };
    const settlement = { invoiceId: id, applicationId, error, settledAt: context.clock() };
    const deliveries = [...webhooks.values()].flatMap((webhook) =>
      deliveriesTo(webhook, context, { ...settlement, subject: bodySha256 }),
    );
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

  function accept(invoice: InvoiceRecord): void {
    if (isStuck(invoice)) return;
    keepTrying(invoice, async () => {
      const { delayMs, outcome } = await ask(invoice);
      const remainingMs = Math.max(0, invoice.createdAt + delayMs - context.clock());
      alarms.after(remainingMs, () => keepTrying(invoice, () => settle(invoice, outcome)));
    });
  }

  async function trySettle(invoice: InvoiceRecord): Promise<void> {
    if (isStuck(invoice)) return;
    try {
      await settle(invoice, (await ask(invoice)).outcome);
    } catch {
      accept(invoice);
    }
  }

  return {
    accept,
    async settleNow(invoice) {
      const patience = new Promise<void>((resolve) => setTimeout(resolve, EARLY_PATIENCE_MS).unref());
      await Promise.race([trySettle(invoice), patience]);
    },
  };
}

/** A verdict, and the content that decides its faults, because the identifier differs in every run. */
interface Subject extends Settled {
  readonly subject: string;
}

const OPPOSITE_ERROR: InvoiceError = { code: 'simulated_contradiction', message: 'A fault of the sandbox says this.' };

/** Returns the deliveries of a settled invoice to one endpoint, including the faults that the seed decides for it. */
function deliveriesTo(webhook: WebhookRecord, context: Context, settled: Subject): readonly DeliveryRecord[] {
  const { chance, newId } = context;
  const { invoiceId, applicationId, error, settledAt, subject } = settled;
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
    const delayMs = delayOf(context, subject);
    if (!chance.decide('webhookDropped', subject)) deliver(body, delayMs);
    if (chance.decide('webhookDuplicated', subject)) deliver(body, delayMs);
  }
  return deliveries;
}

/** Returns the event type of a settled invoice. */
function eventType(error: InvoiceError | null): EventType {
  return error === null ? 'invoice.issued' : 'invoice.failed';
}

function delayOf({ chance, faults }: Context, subject: string): number {
  const late = chance.decide('webhookLate', subject) ? faults.lateMs : 0;
  const held = chance.decide('webhookReordered', subject) ? faults.reorderMs * chance.fraction('reorder', subject) : 0;
  return Math.round(late + held);
}
