import type { InvoiceTry } from '../../src/domain/ports/ledger/batch-record.ts';
import type { SendOutcome } from '../../src/domain/ports/ledger/sending-ledger.ts';

/** The POST as a try of the invoice's history, where it brought no final word; the others stand in the invoice itself. */
export function openTries(
  outcome: SendOutcome,
  { sentAt, answeredAt }: Pick<InvoiceTry, 'sentAt' | 'answeredAt'>,
): readonly InvoiceTry[] {
  return outcome.kind === 'pending' || outcome.kind === 'unknown'
    ? [{ sentAt, answeredAt, reason: outcome.reason }]
    : [];
}
