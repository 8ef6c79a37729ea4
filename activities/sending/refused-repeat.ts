import type { Reason } from '../../src/domain/invoice.ts';
import type { SendOutcome } from '../../src/domain/ports/ledger/sending-ledger.ts';
import type { RetrySettings } from '../deps.ts';

/** Longer than any exchange with the service lasts: an earlier POST is not on its way any more. */
const LONGEST_EXCHANGE_MS = 60_000;

export interface RefusedRepeat {
  readonly reason: Reason;
  /** When the refused POST left, and the last one before it; epoch ms. */
  readonly sentAt: number;
  readonly lastTriedAt: number;
}

/**
 * What the refusal of a repeat tells of the POST before it, whose answer was lost or could not be read. It is a proof only if the profile says that the
 * service answers a key that created an invoice with that invoice, whatever else it would say of the request, and if no earlier POST can still
 * be on its way.
 */
export function refusedRepeat(
  { refusedRepeatIsProof }: Pick<RetrySettings, 'refusedRepeatIsProof'>,
  { reason, sentAt, lastTriedAt }: RefusedRepeat,
): SendOutcome {
  const alone = sentAt - lastTriedAt >= LONGEST_EXCHANGE_MS;
  return refusedRepeatIsProof && alone ? { kind: 'rejected', reason, proven: true } : refusedAfterLostAnswer(reason);
}

/** By itself such a refusal tells nothing: the service may refuse before it looks for the key. */
export function refusedAfterLostAnswer({ message: said }: Reason): SendOutcome {
  const message = `The service refused the key (${said}) after an earlier answer was lost or could not be read, or while the ledger was older than what was sent: an earlier POST may have created the invoice all the same. Ask its support. If it always answers a key that created an invoice with that invoice, set idempotency.refusedRepeatIsProof in the service profile and reconcile.`;
  return { kind: 'unknown', reason: { code: 'refused-after-lost-answer', message } };
}
