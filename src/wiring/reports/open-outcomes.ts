import type { Outcome } from '../../domain/invoice-state.ts';
import type { Ledger } from '../../domain/ports/ledger/ledger.ts';
import type { ReportedOutcome } from '../../domain/ports/ledger/reconciling-ledger.ts';

/** Whatever is in one of these stays there. */
const FINAL: ReadonlySet<Outcome> = new Set(['issued', 'already-issued', 'invalid', 'conflict']);

/** A ledger that notes, while a report reads it, what that report says of invoices that may still change. */
export interface MonitoredLedger {
  readonly ledger: Ledger;
  /** Of the last reading. */
  open(): readonly ReportedOutcome[];
}

/** Wraps a ledger so that reading a batch's invoices also collects those that may still change. */
export function watchOpenOutcomes(ledger: Ledger): MonitoredLedger {
  let open: ReportedOutcome[] = [];

  async function* batchInvoices(batchId: string): ReturnType<Ledger['batchInvoices']> {
    // An unbalanced reading is thrown away and done again.
    open = [];
    for await (const portion of ledger.batchInvoices(batchId)) {
      for (const { ordinal, state, generation } of portion) {
        if (!FINAL.has(state)) open.push({ ordinal, state, generation });
      }
      yield portion;
    }
  }

  return { ledger: { ...ledger, batchInvoices }, open: () => open };
}
