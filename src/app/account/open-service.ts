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

/** Opens the service for this process alone. */
export function openService(config: Config, account: ServiceAccount, profile: ServiceProfile): InvoicingService {
  return createInvoicingService({ ...account, profile, application: config.application });
}

/** Parts of a service that works on a ledger. */
interface SharedServiceParts {
  readonly profile: ServiceProfile;
  readonly ledger: Ledger;
  /** Null means the built-in sandbox, which uses this machine's clock. */
  readonly time: Pick<ServiceTime, 'heard'> | null;
  readonly telemetry: Pick<Telemetry, 'onRequest' | 'sendsTo'>;
}

/** Opens the service with a rate that all processes of the ledger share. */
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
