import { createHash } from 'node:crypto';
import type { Config } from '../../runtime/config/config.ts';
import type { ServiceProfile } from '../../service-profile/profile.ts';

/** Under which findings about a service profile are kept: another one for another application, service or profile. */
export function profileDigestOf(
  { application, service, serviceBaseUrl }: Pick<Config, 'application' | 'service' | 'serviceBaseUrl'>,
  profile: ServiceProfile,
): string {
  // The built-in sandbox may have another port at each start.
  const address = service.kind === 'remote' ? service.baseUrl : (serviceBaseUrl ?? service.kind);
  return createHash('sha256')
    .update(JSON.stringify([application, address, profile]))
    .digest('base64url');
}

/** By what of a service profile the id of a merchant is found: another one where a correction of the profile may lead to another id. */
export function merchantsDigestOf({ merchants, requests, answers }: ServiceProfile): string {
  const { createdId, idPrefix, items, id, nif } = merchants;
  const { headers, createMerchant, listMerchants } = requests;
  return createHash('sha256')
    .update(JSON.stringify([createdId, idPrefix, items, id, nif, headers, createMerchant, listMerchants, answers]))
    .digest('base64url');
}
