import type { ServiceProfile } from '../../service-profile/profile.ts';

const HOUR_MS = 3_600_000;
/** Longer than one request may be on its way. */
const LONGEST_REQUEST_MS = 60_000;

/**
 * For how long Lote repeats a key by itself: `idempotency.retentionHours`, less what a POST that left at the last moment may take. Of a window
 * that is shorter than two such times, half is kept.
 */
export function repeatWindowMs({ idempotency }: Pick<ServiceProfile, 'idempotency'>): number {
  const windowMs = idempotency.retentionHours * HOUR_MS;
  return Math.floor(windowMs - Math.min(LONGEST_REQUEST_MS, windowMs / 2));
}
