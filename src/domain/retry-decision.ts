import type { Reason } from './invoice.ts';
import type { InvoiceState } from './invoice-state.ts';
import { isAhead } from './time/is-ahead.ts';

/** States that an operator may name for a retry. `unknown` is possible only by row or reference, so that it is not repeated in bulk. */
export const RETRY_STATES = ['failed', 'rejected', 'held'] as const;

/** State that an operator may name for a retry: `failed`, `rejected` or `held`. */
export type RetryState = (typeof RETRY_STATES)[number];

/** Every state that a retry by row or reference may take. */
export const RETRY_BY_ROW_STATES = [...RETRY_STATES, 'unknown'] as const;

/** Another sender used the key, at a time that Lote does not know. The service may forget it before the retention window that Lote counts is over. */
export const NEVER_REPEATED_REASONS: readonly string[] = ['key-known-with-other-bytes'];

/**
 * Reasons of `unknown` after which the same key mostly brings the same answer. It is repeated all the same, rarely, because it can never make a second
 * document inside the retention window (but for `NEVER_REPEATED_REASONS`); only an operator who accepts the risk gives the invoice a new key.
 */
export const SPENT_KEY_REASONS: readonly string[] = [
  ...NEVER_REPEATED_REASONS,
  'answer-too-long',
  'earlier-key-unclear',
  'refused-after-lost-answer',
  'service-id-taken',
  'stored-error',
];

/** Reason of what is left open when the time of its page is over, or of its settling. */
export const NO_FINAL_ANSWER: Reason = {
  code: 'no-final-answer',
  message:
    'The time for this was spent without a final answer of the service. Reconciliation goes on asking where that cannot make a second invoice, unless the batch is stopped.',
};

/** Flag and reason of what was sent with another key, or too long ago, after the copy was made from which the ledger was restored. */
export const OLDER_LEDGER = 'older-ledger';

/** Flags that say: another document of this invoice may be alive. */
const SECOND_DOCUMENT_FLAGS: readonly string[] = [
  'issued-in-earlier-generation',
  'second-service-id',
  'shared-service-id',
  OLDER_LEDGER,
];

/** Only a signed event said that it failed. That is enough for an operator's retry, but not for one by the retry policy. */
const UNCONFIRMED = 'failure-unconfirmed';

/** Flags of a failure that the retry policy does not send again: with any of them, it asks for the accepted risk of a duplicate. */
export const FLAGS_AGAINST_POLICY: readonly string[] = [...SECOND_DOCUMENT_FLAGS, UNCONFIRMED];

/** An invoice that is to be sent again. */
export interface RetryCandidate {
  readonly state: InvoiceState;
  readonly generation: number;
  readonly reasonCode: string | null;
  readonly flags: readonly string[];
  /** When the bytes of this generation were frozen: no POST of it left before. Null: no bytes. */
  readonly frozenAt: number | null;
  /** The batch that may send it is this one, or is closed. */
  readonly free: boolean;
  /** The total of the batch that is retried is unusual, and no operator has confirmed it: nothing of the batch may go. */
  readonly totalUnconfirmed: boolean;
}

/**
 * Limits of a retry: from the service profile, from the operator's request, and the time of the decision. Times are
 * milliseconds, `now` is epoch milliseconds.
 */
export interface RetryPolicy {
  readonly maxGenerations: number;
  /** For how long the service is known to remember a key. */
  readonly retentionMs: number;
  /** A refusal proves that nothing was created: the profile names the code for a key known with other bytes. */
  readonly rejectionIsProof: boolean;
  /** The operator accepts, on record, that a second document is possible. */
  readonly acceptDuplicateRisk: boolean;
  /** True: the retry policy of the service profile asks, without an operator. Left out: an operator asked. */
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
 * How one invoice may go again, or why not. The only place that decides; the ledger's update then holds the state and the
 * generation against the row, so that of two operators one wins.
 *
 *   held                      -> release: nothing of this generation reached the service
 *   failed, rejected          -> regenerate: a new key, once the old one has brought the same again; after the retention window only at the operator's risk
 *   unknown, key of use       -> repeat: same key, same bytes; after the retention window only at the operator's risk
 *   unknown, spent key        -> repeat, or abandon at the operator's risk: a new key
 *   unknown, another's key    -> abandon, only at the operator's risk
 */
export function decideRetry(candidate: RetryCandidate, policy: RetryPolicy): RetryDecision {
  if (!candidate.free) return { refusal: 'owned-by-running-batch' };
  const move = moveOf(candidate, policy);
  if (move === null) return { refusal: 'state-not-retryable' };
  // A retry names no number: it is no answer to the question whether the total is right.
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
 * Whether the service is known to remember the key of bytes that were frozen then. The clock starts there: a POST that a crash made us forget cannot have
 * left earlier.
 */
export function insideRetention(
  frozenAt: number | null,
  { now, retentionMs }: Pick<RetryPolicy, 'now' | 'retentionMs'>,
): boolean {
  return frozenAt !== null && now - frozenAt < retentionMs && !isAhead(frozenAt, now);
}
