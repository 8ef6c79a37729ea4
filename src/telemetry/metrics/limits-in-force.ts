import type { RateUpdate } from '../../domain/ports/ledger/service-use-ledger.ts';
import type { LocalLimits } from '../telemetry.ts';
import type { Labels } from './label-bounds.ts';
import type { Meter } from './meter.ts';

/** The limits of requests to the service that hold for this process now. */
export interface LimitsInForce {
  notePermits(permits: number): void;
  /** What the ledger says of the rate that all processes share. */
  noteRate(update: RateUpdate): void;
  /** This process shares its limits with no other. */
  local(limits: LocalLimits): void;
}

/** Serves the limits in force; none are served before some are known. */
export function serveLimits(
  meter: Meter,
  { now, labels }: { readonly now: () => number; readonly labels: Labels },
): LimitsInForce {
  let permits: number | null = null;
  let rate: () => number | null = () => null;
  let heldUntil: () => number = () => 0;
  meter.onScrape(['lote_service_permits', 'lote_service_rate_limit', 'lote_service_hold_seconds'], (observe) => {
    if (permits === null) return;
    observe('lote_service_permits', permits, labels);
    observe('lote_service_hold_seconds', Math.max(0, heldUntil() - now()) / 1_000, labels);
    const limit = rate();
    if (limit !== null) observe('lote_service_rate_limit', limit, labels);
  });
  return {
    notePermits(share) {
      permits = share;
    },
    noteRate({ requestsPerSecond, heldMs }) {
      const until = now() + heldMs;
      rate = () => requestsPerSecond;
      heldUntil = () => until;
    },
    local(limits) {
      ({ permits, rate, heldUntil } = limits);
    },
  };
}
