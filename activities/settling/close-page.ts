import type { Reason } from '../../src/domain/invoice.ts';
import { NO_FINAL_ANSWER } from '../../src/domain/retry-decision.ts';
import type { PageEnding } from '../../src/contract/messages.ts';
import { BATCH_CANCELLED } from '../batch-cancelled.ts';
import type { ActivityDeps } from '../deps.ts';
import { unansweredAtClose } from '../stopped-unanswered.ts';

/** A page to be closed, and how its sending ended. */
export interface CloseInput {
  readonly ledgerId: string;
  readonly batchId: string;
  readonly page: number;
  readonly settleMs: number;
  readonly fencingToken?: number | undefined;
  /** Why the page stopped sending. */
  readonly ending: PageEnding;
  /** What the page waited for last; null: nothing. */
  readonly waitedFor: string | null;
}

/** Its time to be sent was over before its first try, or it came to this batch when its page had been sent. */
const NOT_SENT: Reason = {
  code: 'not-sent',
  message: 'The page of this invoice ended before it was sent. Drop the file again to send it.',
};

/** Gives every invoice of the page that has no final word the state that says so, and the unsent ones the reason why. */
export async function closePage(deps: ActivityDeps, input: CloseInput): Promise<void> {
  const { batchId, page, settleMs, fencingToken } = input;
  const now = deps.now();
  const unanswered = await unansweredAtClose(deps, { batchId, cancelled: input.ending === 'cancelled' });
  const unsent = unsentReason(input);
  if (unsent !== null) await deps.ledger.holdUnsent(batchId, { reason: unsent, page, now, fencingToken });
  const acceptedBefore = now - settleMs + 1;
  const reasons = { reason: NO_FINAL_ANSWER, unsent: NOT_SENT, unanswered };
  await deps.ledger.closePage(batchId, page, { acceptedBefore, ...reasons, now, fencingToken });
}

/** Null: an answer of the service stands as the reason already. */
function unsentReason({ ending, waitedFor }: CloseInput): Reason | null {
  switch (ending) {
    case 'cancelled':
      return BATCH_CANCELLED;
    case 'outage':
      return {
        code: 'service-away',
        message: `Not sent: the service could not be reached for longer than LOTE_OUTAGE_PATIENCE${waitedFor === null ? '' : ` (${waitedFor})`}. Drop the file again to send it.`,
      };
    case 'sent':
    case 'send-time':
      return null;
  }
}
