/**
 * States of an invoice, and the only moves between them. The ledger repeats this table in the WHERE clause of each
 * update, so that two processes can never both win; `docs/ledger.md` shows it with the reasons.
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

export interface Transition {
  readonly from: readonly InvoiceState[];
  readonly to: InvoiceState;
}

/** Every event that may move an invoice. */
export const TRANSITIONS = {
  /** Bytes and key are written down; from here on a POST may be on the wire. */
  freeze: { from: ['staged'], to: 'sending' },
  /** The attempt that froze it has POSTed nothing of it, and no other attempt has taken it. */
  unfreeze: { from: ['sending'], to: 'staged' },
  /** The service gave an `inv_` id. */
  accept: { from: ['sending', 'unknown'], to: 'accepted' },
  /** The service refused for good, and no earlier answer of this generation was lost. */
  refuse: { from: ['sending'], to: 'rejected' },
  /** It may have reached the service, and no answer proves what became of it; retries are spent. */
  lose: { from: ['sending'], to: 'unknown' },
  /** Not sent, or every try was proved not to have reached the service. */
  hold: { from: ['staged', 'sending'], to: 'held' },
  /** An operator or the next run lets it go; nothing of this generation reached the service. */
  release: { from: ['held'], to: 'staged' },
  /** The service said issued, in a webhook or in a GET. It wins over everything. */
  issue: { from: ['accepted', 'unsettled', 'failed'], to: 'issued' },
  /**
   * The service issued an earlier generation of the same content after all, and this one never left, or has no living
   * document.
   */
  revive: { from: ['staged', 'sending', 'held', 'failed', 'rejected'], to: 'issued' },
  /** The service said failed and a GET did not contradict. */
  fail: { from: ['accepted', 'unsettled'], to: 'failed' },
  /** The settle time is over and there is no final word. */
  expire: { from: ['accepted'], to: 'unsettled' },
  /** Reconciliation repeats it: same key, same bytes, inside the retention window. */
  repeat: { from: ['unknown'], to: 'sending' },
  /** A definitive no; the next generation gets a new key. By retry policy, operator, or corrected content. */
  regenerate: { from: ['failed', 'rejected'], to: 'staged' },
  /**
   * Its batch is closed without having sent it, and a later file brings other content: the next generation gets a new
   * key.
   */
  replace: { from: ['staged', 'held'], to: 'staged' },
  /** An operator accepts the risk of a duplicate after the retention window; recorded in the audit. */
  abandon: { from: ['unknown'], to: 'staged' },
} as const satisfies Record<string, Transition>;

/** Name of one move of the state machine in `docs/ledger.md`, such as `freeze` or `accept`. */
export type TransitionName = keyof typeof TRANSITIONS;

/** States in which Lote itself still has something to do while the batch runs. */
export const OPEN_STATES: readonly InvoiceState[] = ['staged', 'sending', 'accepted'];

/** Outcomes of an invoice that has been issued, whichever file it came by. */
export const ISSUED_OUTCOMES: readonly Outcome[] = ['issued', 'already-issued'];

/** Everything but a problem: what went out, and what Lote still works on. */
export const UNTROUBLED_OUTCOMES: readonly Outcome[] = [...ISSUED_OUTCOMES, ...OPEN_STATES];

/** True for `issued` and `already-issued`: a document of the invoice exists. */
export function wentOut(outcome: Outcome): boolean {
  return ISSUED_OUTCOMES.includes(outcome);
}

/**
 * Flags of an invoice that went out and of which the service has said something else, too. It may exist twice, or have failed: no event leads out of
 * `issued`, so that only a person can find out.
 */
export const CONTRADICTIONS = ['second-service-id', 'issued-in-earlier-generation', 'failed-after-issued'] as const;

/** Why an invoice that went out is in doubt. */
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

/** Whether the transition table has the move `name` out of the state `from`. */
export function canMove(name: TransitionName, from: InvoiceState): boolean {
  return (TRANSITIONS[name].from as readonly InvoiceState[]).includes(from);
}
