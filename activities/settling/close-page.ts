import type { Reason } from '../../src/domain/invoice.ts';
import { CALIBRATION_STOPS, FIRST_INVOICES_OUT, PROFILE_UNPROVED } from '../../src/domain/calibration.ts';
import { NO_FINAL_ANSWER } from '../../src/domain/retry-decision.ts';
import type { PageEnding } from '../../src/domain/messages/messages.ts';
import type { PageWork } from '../assert-ownership.ts';
import type { ActivityDeps } from '../deps.ts';

/** A page to be closed, and how its sending ended. */
export interface CloseInput extends PageWork {
  readonly settleMs: number;
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
  const unsent = unsentReason(input);
  if (unsent !== null) await deps.ledger.holdUnsent(batchId, { reason: unsent, page, now, fencingToken });
  const acceptedBefore = now - settleMs + 1;
  const reasons = { reason: NO_FINAL_ANSWER, unsent: NOT_SENT };
  await deps.ledger.closePage(batchId, page, { acceptedBefore, ...reasons, now, fencingToken });
}

/** What a page waits for while the service profile is not proved, or found wrong. */
const UNPROVED = new Set([FIRST_INVOICES_OUT, PROFILE_UNPROVED, ...CALIBRATION_STOPS]);

/** Null: an answer of the service stands as the reason already. */
function unsentReason({ ending, waitedFor }: CloseInput): Reason | null {
  switch (ending) {
    case 'cancelled':
      return BATCH_CANCELLED;
    case 'outage':
      if (UNPROVED.has(waitedFor ?? ''))
        return {
          code: PROFILE_UNPROVED,
          message: `Not sent: the service profile was not proved to read the service within LOTE_OUTAGE_PATIENCE (${waitedFor}). lote status says what does not fit. Then drop the file again to send it.`,
        };
      return {
        code: 'service-away',
        message: `Not sent: the service could not be reached for longer than LOTE_OUTAGE_PATIENCE${waitedFor === null ? '' : ` (${waitedFor})`}. Drop the file again to send it.`,
      };
    case 'sent':
    case 'send-time':
      return null;
  }
}

/** Of an invoice that was not sent when an operator cancelled its batch, whether its page or the batch writes it down. */
export const BATCH_CANCELLED: Reason = {
  code: 'batch-cancelled',
  message: 'An operator cancelled what was not sent yet. Run the file again, or retry the batch, to send it.',
};
