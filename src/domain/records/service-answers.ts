import type { Reason } from '../invoice.ts';

/** What one POST of an invoice proves. The table in `src/service/classify.ts` decides, and nothing else. */
export type CreateAnswer =
  /** `word` stands at the place of the status, in small letters; null: no word does; left out: the caller did not look. */
  | { readonly kind: 'created'; readonly serviceId: string; readonly word?: string | null }
  /** Answered no, for good, and proves that nothing was created. */
  | { readonly kind: 'refused'; readonly reason: Reason }
  /** Not now, and it proves that nothing was created (425, 429, connection refused before bytes left). `isDelayOfKey`: as below. */
  | {
      readonly kind: 'not-now';
      readonly reason: Reason;
      readonly retryAfterMs: number | null;
      readonly isDelayOfKey?: true;
    }
  /** Its permit was over before a byte left: nothing was sent, and nothing was asked. */
  | { readonly kind: 'not-permitted' }
  /**
   * May have been created: time-out, reset, 408, 409, 5xx, unreadable 2xx. `unreadError`: a definitive 4xx with a body
   * that can be read, in which no error stands where the service profile looks for one. `byRule`: a 2xx or a definitive
   * 4xx that a rule of the profile calls lost. `isDelayOfKey`: `retryAfterMs`
   * speaks of this key alone, as on a 409; left out: of the whole service. `isSameAgain`: a repeat would bring the same
   * answer, so that none is sent in this run.
   */
  | {
      readonly kind: 'lost';
      readonly reason: Reason;
      readonly retryAfterMs: number | null;
      readonly unreadError?: true;
      readonly byRule?: true;
      readonly isDelayOfKey?: true;
      readonly isSameAgain?: true;
    }
  /** The key is known with other bytes: the earlier one may be alive. Never a refusal. */
  | { readonly kind: 'key-mismatch'; readonly reason: Reason }
  /** Trouble of the whole batch, not of this invoice: 401, 403, 407, which prove that nothing was created, and redirects, which prove nothing. */
  | {
      readonly kind: 'access-denied';
      readonly reason: Reason;
      readonly retryAfterMs: number | null;
      readonly mayExist: boolean;
    };

/** What stands in an answer that is proven to be about the invoice. */
export interface SeenStatus {
  /** The word of the status, in small letters and at most 100 characters; null: none. */
  readonly word: string | null;
  /** Where the service profile looks for it, to be shown. */
  readonly place: string;
  /** What stands at the places of a failure's reason; `code`: a code, with or without a text. */
  readonly why: 'code' | 'text' | null;
}

/**
 * What one GET of an invoice says. `processing`: every status that the service profile names neither as issued nor as
 * failed. `unreadable`: the GET was refused, or its answer has no status, or does not prove that it is about this
 * invoice. `not-now`: no answer; `retryAfterMs` is null when the service named no delay.
 */
export type StatusAnswer =
  | {
      readonly kind: 'status';
      readonly status: 'issued' | 'failed' | 'processing';
      readonly reason: Reason | null;
      readonly seen?: SeenStatus;
    }
  | {
      readonly kind: 'status';
      readonly status: 'unreadable';
      readonly reason: Reason | null;
      /** It may be about another invoice, and speaks of no failure: it does not even confirm a reported one. */
      readonly doubtful?: boolean;
      readonly seen?: SeenStatus;
    }
  | { readonly kind: 'not-now'; readonly reason: Reason; readonly retryAfterMs: number | null };

/** What one POST of a merchant says. `not-permitted`: the permission was over before a byte left, so nothing was sent. */
export type MerchantAnswer =
  | { readonly kind: 'created'; readonly merchantId: string }
  | { readonly kind: 'refused'; readonly reason: Reason }
  /** Trouble of the whole service: 401, 407, redirect. A 403 (`http-403`) may also concern this merchant alone. */
  | { readonly kind: 'access-denied'; readonly reason: Reason }
  | { readonly kind: 'not-permitted' }
  | { readonly kind: 'not-now'; readonly reason: Reason; readonly retryAfterMs: number | null };

/** All merchants of the account, or why the list is not known. A part of the list is never returned. */
export type MerchantListAnswer =
  | { readonly kind: 'list'; readonly merchants: readonly { readonly nif: string; readonly merchantId: string }[] }
  /** code: `service-unreachable`, `service-unauthorized` or `service-list-unreadable`. */
  | { readonly kind: 'unreadable'; readonly reason: Reason };

/** What the registration of a webhook endpoint brought. `secret` is null when the service sent none; only `WEBHOOK_SECRET` can verify deliveries then. */
export type EndpointAnswer =
  | { readonly kind: 'registered'; readonly secret: string | null }
  /** No answer came, or none that can be read: it may have been registered. */
  | { readonly kind: 'lost'; readonly reason: Reason }
  | { readonly kind: 'refused'; readonly reason: Reason };

/** Whether a POST that still waits in this process may leave. A POST that has left ends by itself, and its answer counts. */
export interface DeparturePermit {
  /** Aborted when the permission is over for good: nothing waits any longer. */
  readonly withdrawn: AbortSignal;
  /** Asked in the very moment before the first byte is written. */
  isValid(): boolean;
  /** Called when a POST has its permit of the rate limiter. True: it may leave now; this reads anew if need be. */
  confirm(): Promise<boolean>;
}

/** What may stop a creating POST. */
export interface PostLimits {
  /** Aborted: it is given up, wherever it is; one that has left is then `lost`. */
  readonly signal?: AbortSignal | undefined;
  readonly permit?: DeparturePermit | undefined;
  /** When a POST with this key may have reached the service first, in epoch milliseconds; null, or left out: none has. */
  readonly firstUsedAt?: number | null;
}
