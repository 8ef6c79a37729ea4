/**
 * States of an invoice; `invoice-machine.ts` decides the moves between them, and `docs/architecture.md` shows them with the reasons.
 *
 *   staged ----freeze----> sending ----accept----> accepted --issue--> issued
 *     |  ^                  |  |  \                  |   \--fail----> failed
 *    hold release           | hold lose              expire            (late answers: issue wins)
 *     v  |                  v  v    v                v
 *     held <-----------refuse  held unknown        unsettled --issue/fail--> issued / failed
 *                           rejected
 */
export const INVOICE_STATES = [
  'staged',
  'sending',
  'accepted',
  'issued',
  'failed',
  'rejected',
  'unknown',
  'unsettled',
  'held',
] as const;

/** State of an invoice in the ledger: one per identity. */
export type InvoiceState = (typeof INVOICE_STATES)[number];

export const BATCH_ONLY_OUTCOMES = ['invalid', 'conflict', 'already-issued'] as const;

/** Outcome of an invoice in a batch: the invoice's live state, or one that only the batch has. */
export type Outcome = InvoiceState | (typeof BATCH_ONLY_OUTCOMES)[number];

/** All outcomes in a report: the states of an invoice, then the three outcomes that only a batch has. */
export const OUTCOMES: readonly Outcome[] = [...INVOICE_STATES, ...BATCH_ONLY_OUTCOMES];

/** States in which Lote itself still has something to do while the batch runs. */
export const OPEN_STATES: readonly InvoiceState[] = ['staged', 'sending', 'accepted'];

/** Outcomes of an invoice that has been issued, whichever file it came by. */
export const ISSUED_OUTCOMES: readonly Outcome[] = ['issued', 'already-issued'];

/** Outcomes that are not problems: issued invoices, and those that Lote still works on. */
const UNTROUBLED_OUTCOMES: readonly Outcome[] = [...ISSUED_OUTCOMES, ...OPEN_STATES];

/** True for `issued` and `already-issued`: a document of the invoice exists. */
export function wentOut(outcome: Outcome): boolean {
  return ISSUED_OUTCOMES.includes(outcome);
}

/**
 * Flags of an issued invoice that the service has contradicted. The invoice may exist twice or have failed; no event
 * changes `issued`, so only a person can find out.
 */
export const CONTRADICTIONS = [
  'second-service-id',
  'shared-service-id',
  'issued-in-earlier-generation',
  'failed-after-issued',
] as const;

/** Why an issued invoice is in doubt. */
export type Contradiction = (typeof CONTRADICTIONS)[number];

/** True for an outcome in which the invoice is settled and is not confirmed as issued. */
export function isProblem(outcome: Outcome): boolean {
  return !UNTROUBLED_OUTCOMES.includes(outcome);
}

/** States that a closed batch is re-opened for when the same file is dropped again. */
export const REOPENING_STATES: readonly InvoiceState[] = [
  'staged',
  'sending',
  'accepted',
  'held',
  'unknown',
  'unsettled',
];
