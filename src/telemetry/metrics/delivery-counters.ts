import type { DeliveryTotals } from '../telemetry.ts';
import type { Meter } from './meter.ts';

/** Serves what the receiver has counted anyway. */
export function serveDeliveryCounters(meter: Meter, totals: () => DeliveryTotals): void {
  meter.onScrape(
    [
      'lote_deliveries_taken_total',
      'lote_deliveries_without_event_total',
      'lote_deliveries_not_stored_total',
      'lote_deliveries_refused_total',
    ],
    (observe) => {
      const { taken, withoutEvent, notStored, refused } = totals();
      observe('lote_deliveries_taken_total', taken.times);
      observe('lote_deliveries_without_event_total', withoutEvent.times);
      observe('lote_deliveries_not_stored_total', notStored.times);
      for (const [reason, { times }] of Object.entries(refused))
        observe('lote_deliveries_refused_total', times, { reason });
    },
  );
}
