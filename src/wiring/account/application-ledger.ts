import { createHash } from 'node:crypto';
import type { RecordDelivery } from '../../domain/ports/ledger/delivery-ledger.ts';
import type { Ledger } from '../../domain/ports/ledger/ledger.ts';
import type { Config } from '../../runtime/config/config.ts';

/** The ledger as an application uses it: as it is where there is one. */
export function seenBy(
  { application, isOneOfSeveral }: Pick<Config, 'application' | 'isOneOfSeveral'>,
  ledger: Ledger,
): Ledger {
  return isOneOfSeveral ? ofApplication(ledger, application) : ledger;
}

/**
 * The ledger as one of several applications uses it. What the ledger keeps by base address — circuit breaker, rate and
 * permits — is this application's alone: its key may be revoked, or its rate spent, while others send to the same
 * address. Deliveries that it stores are marked as its own, so that no invoice of another one hears of them.
 */
export function ofApplication(ledger: Ledger, application: string): Ledger {
  const own = (baseUrl: string): string => `${baseUrl} for ${application}`;
  const marked = (delivery: RecordDelivery): RecordDelivery => ({
    ...delivery,
    application,
    // The same bytes at two addresses are two deliveries, else the first one would keep the other from being stored.
    sha256: createHash('sha256')
      .update(JSON.stringify([application, delivery.sha256]))
      .digest('hex'),
  });
  return {
    ...ledger,
    breaker: (baseUrl) => ledger.breaker(own(baseUrl)),
    openBreaker: (open) => ledger.openBreaker({ ...open, baseUrl: own(open.baseUrl) }),
    closeBreaker: (baseUrl) => ledger.closeBreaker(own(baseUrl)),
    endLastingStop: (baseUrl) => ledger.endLastingStop(own(baseUrl)),
    claimProbe: (baseUrl, claim) => ledger.claimProbe(own(baseUrl), claim),
    giveBackProbe: (baseUrl, turn) => ledger.giveBackProbe(own(baseUrl), turn),
    leaseRate: (baseUrl, lease) => ledger.leaseRate(own(baseUrl), lease),
    currentRate: (baseUrl, rate) => ledger.currentRate(own(baseUrl), rate),
    slowDown: (baseUrl, slower) => ledger.slowDown(own(baseUrl), slower),
    holdRequests: (baseUrl, ms) => ledger.holdRequests(own(baseUrl), ms),
    leaseSlots: (baseUrl, lease) => ledger.leaseSlots(own(baseUrl), lease),
    releaseSlots: (baseUrl, holder) => ledger.releaseSlots(own(baseUrl), holder),
    storeDeliveries: (deliveries) => ledger.storeDeliveries(deliveries.map(marked)),
    applyDeliveries: (serviceIds) => ledger.applyDeliveries(serviceIds, application),
    async recordDeliveries(deliveries) {
      const stored = await ledger.storeDeliveries(deliveries.map(marked));
      const ids = deliveries.flatMap(({ event }) => event?.serviceId ?? []);
      return { ...stored, ...(await ledger.applyDeliveries(ids, application)) };
    },
    deliveryTrouble: (since) => ledger.deliveryTrouble(since, application),
  };
}
