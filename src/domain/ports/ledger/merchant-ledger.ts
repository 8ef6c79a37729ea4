/**
 * A merchant that must exist at the service before its invoices are sent. Null: the file does not say it, and the
 * merchant cannot be created without it.
 */
export interface MerchantNeed {
  readonly nif: string;
  readonly legalName: string | null;
  readonly email: string | null;
}

/**
 * Ids that the service gave the merchants of an application. `readBy` stands for how the service profile reads them; null or left out: it is not known.
 * An id that was read otherwise may be a wrong one, and counts as unknown.
 */
export interface MerchantLedger {
  /**
   * Merchants of owned `staged` invoices of the batch without a known service id. First non-null details in file order.
   */
  merchantsNeeded(batchId: string, readBy?: string | null): Promise<readonly MerchantNeed[]>;
  /** Whether the batch owns an unsent invoice that can be sent: its merchant is known, or its bytes are frozen. */
  hasSendable(batchId: string, readBy?: string | null): Promise<boolean>;
  saveMerchants(
    application: string,
    merchants: readonly { readonly nif: string; readonly merchantId: string }[],
    readBy?: string | null,
  ): Promise<void>;
}
