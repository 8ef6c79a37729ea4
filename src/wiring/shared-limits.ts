import { randomUUID } from 'node:crypto';
import type { ServiceUseLedger } from '../domain/ports/service-use-ledger.ts';
import type { SharedLimits } from '../service/client.ts';
import { createLeasedPace } from '../service/leased-pace.ts';
import { createLeasedSlots, SLOTS_TTL_MS } from '../service/leased-slots.ts';
import type { ServiceProfile } from '../service/profile.ts';

/** The profile's limits, held over all processes of a shared ledger. */
export function sharedLimits(
  ledger: Pick<ServiceUseLedger, 'leasePace' | 'slowDown' | 'leaseSlots' | 'releaseSlots'>,
  baseUrl: string,
  { requestsPerSecond, maxConcurrency }: ServiceProfile['limits'],
): SharedLimits {
  const holder = randomUUID();
  const slots = createLeasedSlots({
    lease: () => ledger.leaseSlots(baseUrl, { holder, max: maxConcurrency, ttlMs: SLOTS_TTL_MS }),
    release: () => ledger.releaseSlots(baseUrl, holder),
  });
  if (requestsPerSecond === null) return { slots };
  return {
    slots,
    pace: createLeasedPace({
      requestsPerSecond,
      lease: (requests) => ledger.leasePace(baseUrl, { requests, requestsPerSecond }),
      now: Date.now,
    }),
    // Advice only: a ledger that is away now is slowed down by the next 429.
    onTooMany: () => void ledger.slowDown(baseUrl).catch(() => undefined),
  };
}
