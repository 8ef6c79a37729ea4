import type { Reason } from './invoice.ts';
import type { InvoiceState } from './invoice-state.ts';
import { isAhead } from './time/instants.ts';

/** States that an operator may name for a retry. `unknown` is possible only by row or reference, so that it is not repeated in bulk. */
export const RETRY_STATES = ['failed', 'rejected', 'held'] as const;

/** One of `RETRY_STATES`. */
export type RetryState = (typeof RETRY_STATES)[number];

/** Every state that a retry by row or reference may take. */
export const RETRY_BY_ROW_STATES = [...RETRY_STATES, 'unknown'] as const;

/** Another sender used the key at a time that Lote does not know, so the service may forget the key before Lote's retention window ends. */
export const NEVER_REPEATED_REASONS: readonly string[] = ['key-known-with-other-bytes'];

/**
 * Reasons of `unknown` after which the same key mostly brings the same answer. Repeats are rare but safe inside the
 * retention window (except for `NEVER_REPEATED_REASONS`). A new key needs an operator who accepts the risk.
 */
export const SPENT_KEY_REASONS: readonly string[] = [
  ...NEVER_REPEATED_REASONS,
  'answer-too-long',
  'earlier-key-unclear',
  'refused-after-lost-answer',
  'service-id-taken',
  'stored-error',
];

/** Reason of invoices that are still open when the send time or the settle time of their page ends. */
export const NO_FINAL_ANSWER: Reason = {
  code: 'no-final-answer',
  message:
    'The time for this was spent without a final answer of the service. Reconciliation goes on asking where that cannot make a second invoice, unless the batch is stopped.',
};

/** Flag and reason of invoices sent with another key, or too long ago, after the backup of a restored ledger. */
export const OLDER_LEDGER = 'older-ledger';

/** Flags of an invoice whose other document may be valid. */
const SECOND_DOCUMENT_FLAGS: readonly string[] = [
  'issued-in-earlier-generation',
  'second-service-id',
  'shared-service-id',
  OLDER_LEDGER,
];

/** Only a signed event said that the invoice failed. An operator may retry the invoice, the retry policy may not. */
const UNCONFIRMED = 'failure-unconfirmed';

/** Flags of failures that the retry policy does not send again without the accepted risk of a duplicate. */
export const FLAGS_AGAINST_POLICY: readonly string[] = [...SECOND_DOCUMENT_FLAGS, UNCONFIRMED];

/** An invoice that is to be sent again. */
export interface RetryCandidate {
  readonly state: InvoiceState;
  readonly generation: number;
  readonly reasonCode: string | null;
  readonly flags: readonly string[];
  /** When the bytes of this generation were frozen, or null if it has none. No POST of this generation left before this time. */
  readonly frozenAt: number | null;
  /** True if this batch owns the invoice or its owner is closed. */
  readonly free: boolean;
  /** The total of the retried batch is unusual and no operator has confirmed it, so nothing of the batch may be sent. */
  readonly totalUnconfirmed: boolean;
}

/**
 * Limits of a retry: from the service profile, from the operator's request, and the time of the decision. Times are
 * milliseconds, `now` is epoch milliseconds.
 */
export interface RetryPolicy {
  readonly maxGenerations: number;
  /** How long the service is known to remember a key, in milliseconds. */
  readonly retentionMs: number;
  /** True if a refusal proves that nothing was created, because the profile names the code for a key known with other bytes. */
  readonly rejectionIsProof: boolean;
  /** The operator accepts, on record, that a second document is possible. */
  readonly acceptDuplicateRisk: boolean;
  /** True if the retry policy of the service profile asks, without an operator. The default is an operator. */
  readonly unattended?: boolean;
  readonly now: number;
}

/**
 * How an invoice is sent again: `release` and `repeat` keep key and bytes, `regenerate` and `abandon` begin a
 * generation with a new key. `abandon` gives up an `unknown` generation, which may exist at the service.
 */
export type RetryMove = 'release' | 'regenerate' | 'repeat' | 'abandon';

/** Why an invoice is not sent again. Reports and console show the code with a text for it. */
export type RetryRefusal =
  | 'state-not-retryable'
  | 'generations-spent'
  | 'needs-accept-duplicate-risk'
  | 'owned-by-running-batch'
  | 'total-unconfirmed';

export type RetryDecision = { readonly move: RetryMove } | { readonly refusal: RetryRefusal };

/**
 * Decides how one invoice is sent again; no other code decides it. The ledger's update compares state and generation
 * with the row, so that one of two operators wins. After the retention window, all but release need the operator's risk.
 *
 *   held                   -> release: nothing of this generation reached the service
 *   failed, rejected       -> regenerate: a new key, once the old one has given its old answer again
 *   unknown, usable key    -> repeat: same key, same bytes
 *   unknown, spent key     -> repeat, or abandon at the operator's risk: a new key
 *   unknown, shared key    -> abandon, only at the operator's risk: another sender used the key
 */
export function decideRetry(candidate: RetryCandidate, policy: RetryPolicy): RetryDecision {
  if (!candidate.free) return { refusal: 'owned-by-running-batch' };
  const move = moveOf(candidate, policy);
  if (move === null) return { refusal: 'state-not-retryable' };
  // A retry does not name the number of invoices, so it does not confirm the total.
  if (candidate.totalUnconfirmed) return { refusal: 'total-unconfirmed' };
  if (isRisky(candidate, move, policy) && !policy.acceptDuplicateRisk)
    return { refusal: 'needs-accept-duplicate-risk' };
  if (move === 'regenerate' && candidate.generation >= policy.maxGenerations) return { refusal: 'generations-spent' };
  return { move };
}

function moveOf(candidate: RetryCandidate, policy: RetryPolicy): RetryMove | null {
  const { state, frozenAt } = candidate;
  const reason = candidate.reasonCode ?? '';
  if (state === 'held') return 'release';
  if (state === 'failed' || state === 'rejected') return 'regenerate';
  if (state !== 'unknown') return null;
  if (frozenAt === null || NEVER_REPEATED_REASONS.includes(reason)) return 'abandon';
  if (!SPENT_KEY_REASONS.includes(reason)) return 'repeat';
  return policy.acceptDuplicateRisk || !insideRetention(frozenAt, policy) ? 'abandon' : 'repeat';
}

function isRisky(candidate: RetryCandidate, move: RetryMove, policy: RetryPolicy): boolean {
  if (candidate.flags.some((flag) => SECOND_DOCUMENT_FLAGS.includes(flag))) return true;
  switch (move) {
    case 'release':
      return false;
    case 'regenerate':
      if (policy.unattended === true && candidate.flags.includes(UNCONFIRMED)) return true;
      if (!insideRetention(candidate.frozenAt, policy)) return true;
      return candidate.state === 'rejected' && !policy.rejectionIsProof;
    case 'repeat':
      return !insideRetention(candidate.frozenAt, policy);
    case 'abandon':
      return true;
  }
}

/**
 * True if the service is known to remember the key of bytes that were frozen at this time. The window starts at the
 * freeze, because a POST that was forgotten in a crash cannot have left earlier.
 */
export function insideRetention(
  frozenAt: number | null,
  { now, retentionMs }: Pick<RetryPolicy, 'now' | 'retentionMs'>,
): boolean {
  return frozenAt !== null && now - frozenAt < retentionMs && !isAhead(frozenAt, now);
}
