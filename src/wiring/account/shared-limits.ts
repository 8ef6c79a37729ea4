import { randomUUID } from 'node:crypto';
import type { ServiceUseLedger } from '../../domain/ports/ledger/service-use-ledger.ts';
import type { SharedLimits } from '../../service/service-connection.ts';
import { createLeasedRateLimiter } from '../../service/limits/leased-rate.ts';
import { createLeasedSlots, SLOTS_TTL_MS } from '../../service/limits/leased-slots.ts';
import type { ServiceProfile } from '../../service-profile/profile.ts';

type SharedUse = Pick<
  ServiceUseLedger,
  'leaseRate' | 'currentRate' | 'slowDown' | 'holdRequests' | 'leaseSlots' | 'releaseSlots'
>;

/**
 * The profile's limits, and what the service's own answers made of them, held over all processes of a shared ledger.
 */
export function sharedLimits(
  ledger: SharedUse,
  baseUrl: string,
  { requestsPerSecond, maxConcurrency }: ServiceProfile['limits'],
): Required<SharedLimits> {
  const holder = randomUUID();
  const rateLimiter = createLeasedRateLimiter({
    requestsPerSecond,
    lease: (requests) => ledger.leaseRate(baseUrl, { requests, requestsPerSecond }),
    slowDown: (tooMany) => ledger.slowDown(baseUrl, { requestsPerSecond, tooMany }),
    hold: (ms) => ledger.holdRequests(baseUrl, ms),
    now: Date.now,
  });
  const slots = createLeasedSlots({
    async lease(held) {
      const share = await ledger.leaseSlots(baseUrl, { holder, held, max: maxConcurrency, ttlMs: SLOTS_TTL_MS });
      // Read together with the share, so that a process that needs no permits also learns of a 429 to another process.
      rateLimiter.learn(await ledger.currentRate(baseUrl, requestsPerSecond));
      return share;
    },
    release: () => ledger.releaseSlots(baseUrl, holder),
  });
  return { slots, rateLimiter };
}
