import { OUTCOMES } from '../../domain/invoice-state.ts';
import type { LedgerSnapshot } from './ledger-snapshot.ts';
import type { Meter } from './meter.ts';

/** Serves figures of the ledger: asked at a scrape, never beside the work. */
export function serveLedgerGauges(
  meter: Meter,
  snapshots: () => Promise<readonly LedgerSnapshot[]>,
  now: () => number,
): void {
  meter.onScrape(
    [
      'lote_invoices',
      'lote_invoices_in_doubt',
      'lote_batches',
      'lote_oldest_unsettled_seconds',
      'lote_circuit_breaker_open',
      'lote_ledger_snapshot_age_seconds',
    ],
    async (observe) => {
      for (const { at, labels, batches, invoices, inDoubt, oldestAt, breakerOpen } of await snapshots()) {
        observe('lote_ledger_snapshot_age_seconds', seconds(now() - at), labels);
        for (const state of OUTCOMES) observe('lote_invoices', invoices.get(state) ?? 0, { state, ...labels });
        observe('lote_invoices_in_doubt', inDoubt, labels);
        for (const [state, number] of Object.entries(batches)) observe('lote_batches', number, { state, ...labels });
        observe('lote_oldest_unsettled_seconds', oldestAt === null ? 0 : seconds(now() - oldestAt), labels);
        if (breakerOpen !== null) observe('lote_circuit_breaker_open', breakerOpen ? 1 : 0, labels);
      }
    },
  );
}

function seconds(ms: number): number {
  return Math.max(0, ms) / 1_000;
}
