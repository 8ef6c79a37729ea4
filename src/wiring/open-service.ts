import { readFileSync } from 'node:fs';
import { LoteError } from '../domain/errors.ts';
import type { InvoicingService } from '../domain/ports/invoicing-service.ts';
import type { Config } from '../runtime/config.ts';
import { createInvoicingService } from '../service/client.ts';
import { loadProfile, type ServiceProfile } from '../service/profile.ts';

export interface ServiceAccount {
  readonly baseUrl: string;
  readonly apiKey: string;
}

/** @throws LoteError `configuration-invalid` when the profile cannot be read or is wrong. */
export function readProfile({ serviceProfilePath }: Pick<Config, 'serviceProfilePath'>): ServiceProfile {
  if (serviceProfilePath === null) return loadProfile(undefined);
  let text: string;
  try {
    text = readFileSync(serviceProfilePath, 'utf8');
  } catch (cause) {
    throw new LoteError(
      'configuration-invalid',
      `Reading the service profile: SERVICE_PROFILE must name a readable file, found ${JSON.stringify(serviceProfilePath)}.`,
      { cause },
    );
  }
  return loadProfile(text);
}

export function openService(config: Config, account: ServiceAccount, profile: ServiceProfile): InvoicingService {
  return createInvoicingService({ ...account, profile, application: config.application });
}
