import type { Ledger } from '../../domain/ports/ledger/ledger.ts';
import type { RateUpdate } from '../../domain/ports/ledger/service-use-ledger.ts';
import type { LagSamples } from './lag-samples.ts';
import type { LimitsInForce } from './limits-in-force.ts';
import type { Meter } from './meter.ts';

/** The same ledger; what its answers say of repeats, of settled invoices and of shared limits is noted. */
export function measuredLedger(
  ledger: Ledger,
  parts: { meter: Meter; lag: LagSamples; limits: LimitsInForce },
): Ledger {
  const { meter, lag, limits } = parts;
  meter.count('lote_repeated_posts_total', {}, 0);
  const rate = async (update: Promise<RateUpdate>): Promise<void> => limits.noteRate(await update);
  return {
    ...ledger,
    async addRepeats(batchId, repeats) {
      meter.count('lote_repeated_posts_total', {}, repeats);
      return ledger.addRepeats(batchId, repeats);
    },
    async recordSends(items, company) {
      const settled = await ledger.recordSends(items, company);
      lag.add(settled);
      return settled;
    },
    async recordStatus(updates) {
      const settled = await ledger.recordStatus(updates);
      lag.add(settled);
      return settled;
    },
    async pageProgress(batchId, page) {
      const progress = await ledger.pageProgress(batchId, page);
      lag.add(progress.settled);
      return progress;
    },
    async applyDeliveries(serviceIds, application) {
      const applied = await ledger.applyDeliveries(serviceIds, application);
      lag.add(applied.settled);
      return applied;
    },
    async leaseSlots(baseUrl, lease) {
      const share = await ledger.leaseSlots(baseUrl, lease);
      limits.notePermits(share);
      return share;
    },
    leaseRate: (baseUrl, lease) => noted(ledger.leaseRate(baseUrl, lease), rate),
    currentRate: (baseUrl, limit) => noted(ledger.currentRate(baseUrl, limit), rate),
    slowDown: (baseUrl, update) => noted(ledger.slowDown(baseUrl, update), rate),
  };
}

async function noted<Update extends RateUpdate>(
  update: Promise<Update>,
  note: (update: Promise<RateUpdate>) => Promise<void>,
): Promise<Update> {
  await note(update);
  return update;
}
