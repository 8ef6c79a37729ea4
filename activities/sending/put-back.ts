import type { Reason } from '../../src/domain/invoice.ts';
import type { SendableInvoice } from '../../src/domain/ports/ledger.ts';
import type { ActivityDeps } from '../deps.ts';

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
  const untouched = idle.filter(({ state, mayExist }) => state === 'sending' && !mayExist);
  if (untouched.length === 0) return;
  await ledger.recordSends(
    untouched.map(({ invoiceId, generation }) => ({
      invoiceId,
      generation,
      attempts: 0,
      sentAt: at,
      outcome: { kind: 'pending', reason, mayExist: false },
    })),
  );
}
