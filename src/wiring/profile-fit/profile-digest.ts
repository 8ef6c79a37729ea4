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
