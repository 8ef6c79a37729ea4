import type { Alarms } from './alarms.ts';
import { applicationOf } from './application.ts';
import type { Context } from './context.ts';
import type { Engine, EngineOutcome, EngineVerdict } from './engine.ts';
import type { InvoiceError, InvoiceRecord } from './records.ts';
import { reasonOf } from './sandbox-log.ts';
import type { Deliverer } from './webhooks/deliverer.ts';
import { planDeliveries } from './webhooks/plan-deliveries.ts';
import type { InvoiceBody } from './validation/invoice-body.ts';

export interface AcceptedInvoice {
  readonly invoice: InvoiceRecord;
  readonly body: InvoiceBody;
  readonly text: string;
}

/**
 * Takes invoices from `processing` to `issued` or `failed`, once.
 *
 *     processing --engine: issued--> issued
 *     processing --engine: failed--> failed
 */
export interface Settlement {
  /** Settles the invoice when the engine says so. */
  accept(accepted: AcceptedInvoice): void;
  /** Settles it at once and waits until its events were tried (fault `webhookEarly`). */
  settleNow(accepted: AcceptedInvoice): Promise<void>;
}

export interface SettlementOptions {
  readonly context: Context;
  readonly engine: Engine;
  readonly deliverer: Deliverer;
  readonly alarms: Alarms;
}

const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 60_000;
// The caller that waits for the answer of a POST has a time-out; a receiver that does not answer must not use it up.
const EARLY_PATIENCE_MS = 2000;

/** Makes the settlement of one sandbox. An invoice that cannot be settled now is tried again until `alarms` stops. */
export function createSettlement({ context, engine, deliverer, alarms }: SettlementOptions): Settlement {
  async function ask({ invoice, body, text }: AcceptedInvoice): Promise<EngineVerdict> {
    return engine.process({ id: invoice.id, applicationId: invoice.applicationId, body, text });
  }

  async function settle(invoice: InvoiceRecord, outcome: EngineOutcome): Promise<void> {
    const { applications } = context;
    if (applicationOf(applications, invoice.applicationId).invoices.get(invoice.id)?.status !== 'processing') {
      return;
    }
    const at = context.clock();
    const error = errorOf(outcome);
    const deliveries = planDeliveries(context, { invoice, error, at });
    await context.commit([
      {
        kind: 'settlement',
        settlement: { invoiceId: invoice.id, applicationId: invoice.applicationId, error, settledAt: at },
      },
      ...deliveries.map((delivery) => ({ kind: 'delivery' as const, delivery })),
    ]);
    await deliverer.enqueue(deliveries);
  }

  // The engine or the store may be away for a while; the invoice stays `processing` meanwhile, also over a restart.
  function keepTrying(invoice: InvoiceRecord, work: () => Promise<unknown>, delayMs = FIRST_RETRY_MS): void {
    work().catch((error: unknown) => {
      context.log.warn('An invoice could not be settled yet.', { invoiceId: invoice.id, reason: reasonOf(error) });
      alarms.after(delayMs, () => keepTrying(invoice, work, Math.min(delayMs * 2, LONGEST_RETRY_MS)));
    });
  }

  function isStuck({ bodySha256 }: InvoiceRecord): boolean {
    return context.chance.decide('neverSettle', bodySha256);
  }

  function accept(accepted: AcceptedInvoice): void {
    const { invoice } = accepted;
    if (isStuck(invoice)) return;
    keepTrying(invoice, async () => {
      const { delayMs, outcome } = await ask(accepted);
      const remainingMs = invoice.createdAt + delayMs - context.clock();
      alarms.after(remainingMs, () => keepTrying(invoice, () => settle(invoice, outcome)));
    });
  }

  async function settleNow(accepted: AcceptedInvoice): Promise<void> {
    if (isStuck(accepted.invoice)) return;
    try {
      const { outcome } = await ask(accepted);
      await settle(accepted.invoice, outcome);
    } catch {
      accept(accepted);
    }
  }

  return {
    accept,
    async settleNow(accepted) {
      const patience = new Promise<void>((resolve) => setTimeout(resolve, EARLY_PATIENCE_MS).unref());
      await Promise.race([settleNow(accepted), patience]);
    },
  };
}

function errorOf(outcome: EngineOutcome): InvoiceError | null {
  return outcome.status === 'issued' ? null : { code: outcome.code, message: outcome.message };
}
