import type { Reason } from '../invoice.ts';

/** The proof that the answer to one POST of an invoice gives. Only the table in `src/service/classify.ts` decides it. */
export type CreateAnswer =
  /** `word` is the status word in small letters. It is null if there is none, and missing if the caller did not look. */
  | { readonly kind: 'created'; readonly serviceId: string; readonly word?: string | null }
  /** The service refused for good, which proves that nothing was created. */
  | { readonly kind: 'refused'; readonly reason: Reason }
  /** Refused for now; proves that nothing was created (425, 429, refused before bytes left). `isDelayOfKey`: as below. */
  | {
      readonly kind: 'not-now';
      readonly reason: Reason;
      readonly retryAfterMs: number | null;
      readonly isDelayOfKey?: true;
    }
  /** The permission ended before a byte left, so nothing was sent. */
  | { readonly kind: 'not-permitted' }
  /**
   * The invoice may have been created: time-out, reset, 408, 409, 5xx, unreadable 2xx. `unreadError`: a definitive 4xx
   * with a readable body, but without an error at the place in the service profile. `byRule`: a 2xx or a definitive 4xx
   * that a rule of the profile calls lost. `isDelayOfKey`: `retryAfterMs` applies to this key alone, as on a 409, and
   * not to the whole service. `isSameAgain`: a repeat would bring the same answer, so this run sends none.
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
  /** The service knows the key with other bytes: the earlier document may be valid, so this is never a refusal. */
  | { readonly kind: 'key-mismatch'; readonly reason: Reason }
  /** A problem of the whole batch: 401, 403, 407, which prove that nothing was created, and redirects, which prove nothing. */
  | {
      readonly kind: 'access-denied';
      readonly reason: Reason;
      readonly retryAfterMs: number | null;
      readonly mayExist: boolean;
    };

/** The content of an answer that is proved to be about the invoice. */
export interface SeenStatus {
  /** The status word in small letters, at most 100 characters; null if there is none. */
  readonly word: string | null;
  /** Place of the status according to the service profile, for display. */
  readonly place: string;
  /** What the answer has at the places of a failure's reason; `code` means a code, with or without a text. */
  readonly why: 'code' | 'text' | null;
}

/**
 * The result of one GET of an invoice. `processing`: a status that the service profile calls neither issued nor failed.
 * `unreadable`: the GET was refused, or its answer has no status or does not prove that it is about this invoice.
 * `not-now`: no answer came; `retryAfterMs` is null if the service named no delay.
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
      /** True if the answer may be about another invoice and names no failure, so that it confirms none. */
      readonly doubtful?: boolean;
      readonly seen?: SeenStatus;
    }
  | { readonly kind: 'not-now'; readonly reason: Reason; readonly retryAfterMs: number | null };

/** The result of one POST of a merchant. `not-permitted`: the permission ended before a byte left, so nothing was sent. */
export type MerchantAnswer =
  | { readonly kind: 'created'; readonly merchantId: string }
  | { readonly kind: 'refused'; readonly reason: Reason }
  /** A problem of the whole service: 401, 407, redirect. A 403 (`http-403`) may also concern this merchant alone. */
  | { readonly kind: 'access-denied'; readonly reason: Reason }
  | { readonly kind: 'not-permitted' }
  | { readonly kind: 'not-now'; readonly reason: Reason; readonly retryAfterMs: number | null };

/** All merchants of the account, or the reason why the list is unknown. A partial list is never returned. */
export type MerchantListAnswer =
  | { readonly kind: 'list'; readonly merchants: readonly { readonly nif: string; readonly merchantId: string }[] }
  /** The code is `service-unreachable`, `service-unauthorized` or `service-list-unreadable`. */
  | { readonly kind: 'unreadable'; readonly reason: Reason };

/** The result of registering a webhook endpoint. `secret` is null if the service sent none; then only `WEBHOOK_SECRET` can verify deliveries. */
export type EndpointAnswer =
  | { readonly kind: 'registered'; readonly secret: string | null }
  /** No readable answer came: the endpoint may have been registered. */
  | { readonly kind: 'lost'; readonly reason: Reason }
  | { readonly kind: 'refused'; readonly reason: Reason };

/** Says whether a POST that waits in this process may leave. A POST that has left ends by itself, and its answer counts. */
export interface DeparturePermit {
  /** Aborted when the permission has ended for good, so that all waiting stops. */
  readonly withdrawn: AbortSignal;
  /** Called immediately before the first byte is written. */
  isValid(): boolean;
  /** Called when a POST has its permit of the limiter; true if it may leave now. Reads the ledger again if necessary. */
  confirm(): Promise<boolean>;
}

/** Limits of a creating POST. */
export interface PostLimits {
  /** If it aborts, the POST is given up at any stage; a POST that has left is then `lost`. */
  readonly signal?: AbortSignal | undefined;
  readonly permit?: DeparturePermit | undefined;
}
