/** Where an application's invoices go, and with whose key. */
export interface ServiceAccountRecord {
  readonly application: string;
  readonly baseUrl: string;
  /** Of the key, salted by the ledger's id. */
  readonly keyFingerprint: string;
}

export interface PaceLease {
  /** Until the first of the leased requests may leave. */
  readonly waitMs: number;
  /** Between one and the next. */
  readonly gapMs: number;
}

/** What all processes of a ledger share about the service they speak to. */
export interface ServiceUseLedger {
  /**
   * The account the application used before; the first one is remembered, and comes back as it was given. Where another application of the ledger
   * has this very account already, nothing is remembered, and that one comes back.
   */
  knownAccount(account: ServiceAccountRecord, now: number): Promise<ServiceAccountRecord>;
  /** An operator's word: this is the account from now on. Merchant ids of another service or key are forgotten with it. */
  confirmAccount(account: ServiceAccountRecord, now: number): Promise<void>;
  /** The next places in the row of all processes, at this rate or, after answers of 429, below it. */
  leasePace(
    baseUrl: string,
    lease: { readonly requests: number; readonly requestsPerSecond: number },
  ): Promise<PaceLease>;
  /** The service said 429: half the rate, at most once a second; it comes back within a minute. */
  slowDown(baseUrl: string): Promise<void>;
  /** This process's share of the requests in flight; all shares together never exceed `max`. To be renewed within `ttlMs`. */
  leaseSlots(
    baseUrl: string,
    lease: { readonly holder: string; readonly max: number; readonly ttlMs: number },
  ): Promise<number>;
  releaseSlots(baseUrl: string, holder: string): Promise<void>;
}
