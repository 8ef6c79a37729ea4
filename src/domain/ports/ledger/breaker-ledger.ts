import type { Reason } from '../../invoice.ts';

export interface BreakerRecord {
  readonly baseUrl: string;
  readonly reason: Reason;
  readonly openedAt: number;
  readonly probeAfter: number;
}

/** An open breaker as it stands. */
export interface OpenBreaker extends BreakerRecord {
  /** Until then one caller probes; null: no caller does, or the probe has failed. */
  readonly probingUntil: number | null;
}

/** The circuit breaker of each base address, shared by all processes of the ledger. No record means closed. */
export interface BreakerLedger {
  breaker(baseUrl: string): Promise<OpenBreaker | null>;
  openBreaker(record: BreakerRecord): Promise<void>;
  /** After a success; nothing happens while a reason that no probe ends stands. */
  closeBreaker(baseUrl: string): Promise<void>;
  /** At the start of a process whose profile may be corrected: what stands by then was found before, whatever the clocks say. A reason that passes stays. */
  endLastingStop(baseUrl: string): Promise<void>;
  /**
   * True for exactly one caller once `probeAfter` has come: it may send one request, and all others wait until `until`.
   */
  claimProbe(baseUrl: string, claim: { readonly now: number; readonly until: number }): Promise<boolean>;
  /**
   * The turn that ends at `until` is over, and the next caller may probe from `now` on. Nothing happens when the breaker was closed meanwhile, or
   * another caller has the turn.
   */
  giveBackProbe(baseUrl: string, turn: { readonly now: number; readonly until: number }): Promise<void>;
}
