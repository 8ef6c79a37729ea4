import type { InvoicingService } from '../../domain/ports/invoicing-service.ts';
import type { Ledger } from '../../domain/ports/ledger/ledger.ts';
import type { ServiceClock } from '../../domain/time/service-clock.ts';
import type { Config } from '../../runtime/config/config.ts';
import { createInvoicingService } from '../../service/client.ts';
import { createRateLimiter } from '../../service/limits/rate-limiter.ts';
import type { SharedLimits } from '../../service/service-connection.ts';
import type { ServiceProfile } from '../../service-profile/profile.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import type { Capture } from '../recordings/capture.ts';
import { sharedLimits } from './shared-limits.ts';

/** Address and API key of an invoicing service. */
export interface ServiceAccount {
  readonly baseUrl: string;
  readonly apiKey: string;
}

/** The service for this process alone. */
export function openService(config: Config, account: ServiceAccount, profile: ServiceProfile): InvoicingService {
  return createInvoicingService({ ...account, profile, application: config.application });
}

/** What a service is opened with that works on a ledger. */
interface SharedServiceParts {
  readonly profile: ServiceProfile;
  readonly ledger: Ledger;
  /** null: nothing is recorded. */
  readonly capture: Capture | null;
  /** Told of each answer; null: nobody is. */
  readonly clock: Pick<ServiceClock, 'heard'> | null;
  readonly telemetry: Pick<Telemetry, 'onRequest' | 'limits' | 'service'>;
}

/** The service as one of several processes on a shared ledger uses it: the profile's limits hold over all of them. */
export function openSharedService(
  config: Config,
  account: ServiceAccount,
  { profile, ledger, capture, clock, telemetry }: SharedServiceParts,
): InvoicingService {
  const isShared = config.databaseUrl !== null;
  const shared = isShared ? sharedLimits(ledger, account.baseUrl, profile.limits) : ownLimits(profile, telemetry);
  const service = createInvoicingService({
    ...{ ...account, profile, application: config.application, shared, measure: telemetry.onRequest },
    ...(clock !== null && { heard: (at) => clock.heard(at) }),
    ...(capture !== null && { capture: (exchange) => capture.exchange(exchange) }),
  });
  return telemetry.service(service);
}

/** The limits of a process that has the service for itself. */
function ownLimits({ limits }: ServiceProfile, telemetry: Pick<Telemetry, 'limits'>): SharedLimits {
  const rateLimiter = createRateLimiter(limits.requestsPerSecond);
  telemetry.limits({
    permits: limits.maxConcurrency,
    rate: () => rateLimiter.rate(Date.now()),
    heldUntil: () => rateLimiter.heldUntil(),
  });
  return { rateLimiter };
}
