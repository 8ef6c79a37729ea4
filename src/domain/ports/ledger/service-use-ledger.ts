import type { TooMany } from '../../request-rate.ts';

/** Where an application's invoices go, and with whose key. */
export interface ServiceAccountRecord {
  readonly application: string;
  readonly baseUrl: string;
  /** Of the key, salted by the ledger's id. */
  readonly keyFingerprint: string;
}

/** The limits that hold for all processes at the moment. */
export interface RateUpdate {
  /** The limit, or less after answers of 429; null: as many as come. */
  readonly requestsPerSecond: number | null;
  /** The service's own Retry-After is in force for that long yet. */
  readonly heldMs: number;
}

/** Leased permits: the first may be used after `waitMs`, each further one `gapMs` later. Times are milliseconds. */
export interface RateLease extends RateUpdate {
  /** Until the first of the leased requests may leave. */
  readonly waitMs: number;
  /** Between one and the next. */
  readonly gapMs: number;
}

/** What a process asks of the requests that may be in flight. */
export interface SlotsLease {
  readonly holder: string;
  /** Of all processes together. */
  readonly max: number;
  /** To be renewed within this time. */
  readonly ttlMs: number;
  /** What the process may still use until it hears of a smaller share: nobody else gets it meanwhile. Left out: 0. */
  readonly held?: number;
}

/** What all processes of a ledger share about the service they speak to. */
export interface ServiceUseLedger {
  /**
   * The account that the application used before. Where it used none, the account of another application of the ledger
   * if it is this very account. Null: no application used it. This writes nothing.
   */
  knownAccount(account: ServiceAccountRecord): Promise<ServiceAccountRecord | null>;
  /**
   * The service answered with this key: the account is the application's from now on, unless `knownAccount` has one,
   * which comes back.
   */
  rememberAccount(account: ServiceAccountRecord, now: number): Promise<ServiceAccountRecord>;
  /**
   * An operator confirms the account: it is the application's from now on. Merchant ids of another service or key are
   * forgotten.
   */
  confirmAccount(account: ServiceAccountRecord, now: number): Promise<void>;
  /** Leases the next permits of all processes, at this rate or, after answers of 429, below it. */
  leaseRate(
    baseUrl: string,
    lease: { readonly requests: number; readonly requestsPerSecond: number | null },
  ): Promise<RateLease>;
  /** The rate and the hold in force. Takes no permit. */
  currentRate(baseUrl: string, requestsPerSecond: number | null): Promise<RateUpdate>;
  /**
   * The service answered 429 to this process; `taken` is its own part. The rate falls at most once a second for all
   * processes together.
   */
  slowDown(
    baseUrl: string,
    update: { readonly requestsPerSecond: number | null; readonly tooMany: TooMany },
  ): Promise<RateUpdate>;
  /** The service asked to wait: no process sends before that. An earlier, longer hold stays. */
  holdRequests(baseUrl: string, ms: number): Promise<void>;
  /** This process's share of the requests in flight. Shares, and what is held beyond them, never exceed `max` together. */
  leaseSlots(baseUrl: string, lease: SlotsLease): Promise<number>;
  releaseSlots(baseUrl: string, holder: string): Promise<void>;
}
