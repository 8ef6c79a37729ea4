import type { ServiceProfile } from '../service/profile.ts';

const HOUR_MS = 3_600_000;
/** Longer than one request may take until its last byte came, the client's own short waits included. */
const LONGEST_REQUEST_MS = 60_000;

/**
 * For how long Lote repeats a key by itself: `idempotency.retentionHours`, less what a POST that was let go at the last moment may still
 * wait for its place in the rate and be on its way. Of a window that is shorter than such waits, half is kept.
 */
export function repeatWindowMs({ idempotency, limits }: Pick<ServiceProfile, 'idempotency' | 'limits'>): number {
  const windowMs = idempotency.retentionHours * HOUR_MS;
  const { requestsPerSecond, maxConcurrency } = limits;
  const paceMs = requestsPerSecond === null ? 0 : (maxConcurrency / requestsPerSecond) * 1_000;
  return Math.floor(windowMs - Math.min(LONGEST_REQUEST_MS + paceMs, windowMs / 2));
}
