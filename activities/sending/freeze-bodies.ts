import type { ActivityDeps } from '../deps.ts';
import type { Reason } from '../../src/domain/invoice.ts';
import type { FreezeInvoice, SendableInvoice } from '../../src/domain/ports/ledger/sending-ledger.ts';

/**
 * What a slice was handed and then POSTed nothing of. Without a word about it, it would count as a try that may have arrived. An invoice that this
 * slice froze itself is staged again; one that was `sending` before, after tries that provably failed, stays so; what may exist stays that.
 */
export async function putBack(
  { ledger, now }: Pick<ActivityDeps, 'ledger' | 'now'>,
  batchId: string,
  { idle, reason }: { readonly idle: readonly SendableInvoice[]; readonly reason: Reason },
): Promise<void> {
  const at = now();
  await ledger.unfreeze(
    batchId,
    idle.filter(({ state }) => state === 'staged'),
    { reason, now: at },
  );
  const sending = idle.filter(({ state }) => state === 'sending');
  await putBackWaiting(
    { ledger, now: () => at },
    sending.map((invoice) => ({ invoice, reason })),
  );
}

/** The same for invoices that were `sending` before, each with a reason of its own. */
export async function putBackWaiting(
  { ledger, now }: Pick<ActivityDeps, 'ledger' | 'now'>,
  waiting: readonly { readonly invoice: SendableInvoice; readonly reason: Reason }[],
): Promise<void> {
  const sentAt = now();
  const untouched = waiting.filter(({ invoice }) => !invoice.mayExist);
  if (untouched.length === 0) return;
  await ledger.recordSends(
    untouched.map(({ invoice: { invoiceId, generation }, reason }) => ({
      ...{ invoiceId, generation, sentAt, attempts: 0 },
      outcome: { kind: 'pending', reason, mayExist: false },
    })),
  );
}

/** It has its frozen bytes, or can get them: without its merchant's id it cannot, and what has them needs none any more. */
export function canHaveBytes({ state, body, merchantId }: SendableInvoice): boolean {
  return merchantId !== null || (state === 'sending' && body !== null);
}

/** Bytes are frozen before the first send and never rebuilt; an invoice without a merchant's id cannot have bytes. */
export async function freezeBodies(
  deps: ActivityDeps,
  batchId: string,
  sendable: readonly SendableInvoice[],
): Promise<ReadonlyMap<number, string>> {
  const bodies = new Map<number, string>();
  const fresh: FreezeInvoice[] = [];
  for (const { invoiceId, generation, body, invoice, merchantId, state, mayExistSince } of sendable) {
    if (state === 'sending' && body !== null) bodies.set(invoiceId, body);
    else if (merchantId !== null)
      fresh.push({ invoiceId, generation, mayExistSince, body: deps.service.invoiceBody(invoice, merchantId) });
  }
  const frozen = new Set(await deps.ledger.freeze(batchId, fresh, deps.now()));
  for (const { invoiceId, body } of fresh) if (frozen.has(invoiceId)) bodies.set(invoiceId, body);
  return bodies;
}
