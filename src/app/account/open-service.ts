import type { ServiceTime } from './authenticated-service.ts';
import type { Config } from '../config/config.ts';
import { createInvoicingService, type InvoicingService } from '../../service/client.ts';
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
  const rate = ledger.sharedRate(account.baseUrl, profile.limits.requestsPerSecond);
  telemetry.sendsTo(account.baseUrl);
  return createInvoicingService({
    ...{ ...account, profile, application: config.application, rate, measure: telemetry.onRequest },
    ...(time !== null && { heard: (at) => time.heard(at) }),
  });
}
