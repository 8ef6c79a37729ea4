import type { FreezeInvoice, SendableInvoice } from '../../src/domain/ports/ledger.ts';
import type { ActivityDeps } from '../deps.ts';

/** Bytes are frozen before the first send and never rebuilt; an invoice without a merchant's id cannot have bytes. */
export async function freezeBodies(
  deps: ActivityDeps,
  batchId: string,
  sendable: readonly SendableInvoice[],
): Promise<ReadonlyMap<number, string>> {
  const bodies = new Map<number, string>();
  const fresh: FreezeInvoice[] = [];
  for (const { invoiceId, generation, body, invoice, merchantId, state } of sendable) {
    if (state === 'sending' && body !== null) bodies.set(invoiceId, body);
    else if (merchantId !== null)
      fresh.push({ invoiceId, generation, body: deps.service.invoiceBody(invoice, merchantId) });
  }
  const frozen = new Set(await deps.ledger.freeze(batchId, fresh, deps.now()));
  for (const { invoiceId, body } of fresh) if (frozen.has(invoiceId)) bodies.set(invoiceId, body);
  return bodies;
}
