import type { ServiceTime } from './authenticated-service.ts';
import type { Config } from '../config/config.ts';
import { createInvoicingService, type InvoicingService } from '../../service/client.ts';
import type { SharedRate } from '../../service/limits/rate-limiter.ts';
import type { ServiceProfile } from '../../service/profile/profile.ts';
import type { Telemetry } from '../../health/telemetry.ts';
import type { Ledger } from '../../ledger/ledger.ts';

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
  /** Null: the built-in sandbox, whose clock is this machine's. */
  readonly time: Pick<ServiceTime, 'heard'> | null;
  readonly telemetry: Pick<Telemetry, 'onRequest' | 'sendsTo'>;
}

/** The service as one of several processes of a ledger uses it: its rate holds over all of them. */
export function openSharedService(
  config: Config,
  account: ServiceAccount,
  { profile, ledger, time, telemetry }: SharedServiceParts,
): InvoicingService {
  const rate = sharedRate(ledger, account.baseUrl, profile.limits);
  telemetry.sendsTo(account.baseUrl);
  return createInvoicingService({
    ...{ ...account, profile, application: config.application, rate, measure: telemetry.onRequest },
    ...(time !== null && { heard: (at) => time.heard(at) }),
  });
}

/** The rate of a base address as the ledger keeps it for all its processes. */
export function sharedRate(
  ledger: Pick<Ledger, 'leaseRate' | 'currentRate' | 'slowDown' | 'holdRequests'>,
  baseUrl: string,
  { requestsPerSecond }: ServiceProfile['limits'],
): SharedRate {
  return {
    current: () => ledger.currentRate(baseUrl, requestsPerSecond),
    lease: (requests) => ledger.leaseRate(baseUrl, { requests, requestsPerSecond }),
    slowDown: (taken) => ledger.slowDown(baseUrl, { requestsPerSecond, taken }),
    hold: (ms) => ledger.holdRequests(baseUrl, ms),
  };
}
