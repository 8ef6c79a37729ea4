/** How far a ledger has sent for one account. `scope` names the account, see `sendingScope`. */
export interface SendingMark {
  readonly ledgerId: string;
  /** Rises by one with each slice that is sent. */
  readonly number: number;
  /**
   * Invoices may have been sent from this time on (epoch milliseconds) that this ledger does not know; null: it knows
   * all of them. 0: nobody knows since when.
   */
  readonly gapSince: number | null;
}

/** Marks of sending: by them a ledger that was restored from an older copy, or began anew, is recognised. */
export interface SendingMarkLedger {
  /** Raises the mark of a ledger by one, and returns it: whoever reads it later knows what was frozen before. */
  raiseSendingMark(scope: string, ledgerId: string): Promise<number>;
  /** The marks of this ledger, and of others whose sending it has learned of. */
  sendingMarks(scope: string): Promise<readonly SendingMark[]>;
  /** The marks of this ledger's own sending, by account: one whose address has changed has several. */
  ownSendingMarks(ledgerId: string): Promise<ReadonlyMap<string, SendingMark>>;
  /** Takes up a mark that stands outside the ledger only; the earliest `gapSince` stays. */
  noteSendingGap(scope: string, mark: SendingMark): Promise<void>;
  /**
   * An operator's word: what was sent in the gaps is settled. What the application has as `held`, `failed` or `rejected` may have been sent in them, or sent
   * again, and is flagged (`older-ledger`): only an operator who accepts the risk sends it again. The same goes for `accepted` and `unsettled`, for the lost
   * time may have heard that it failed; the flag ends when it is issued. Returns how many of the former were flagged.
   */
  closeSendingGaps(scope: string, application: string): Promise<number>;
}
