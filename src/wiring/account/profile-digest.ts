import { createHash } from 'node:crypto';
import type { Config } from '../../runtime/config/config.ts';
import type { ServiceProfile } from '../../service-profile/profile.ts';

/** Under which findings about a service profile are kept: another one for another application, service or profile. */
export function profileDigestOf(
  { application, service }: Pick<Config, 'application' | 'service'>,
  profile: ServiceProfile,
): string {
  // The built-in sandbox may have another port at each start.
  const address = service.kind === 'remote' ? service.baseUrl : service.kind;
  return createHash('sha256')
    .update(JSON.stringify([application, address, profile]))
    .digest('base64url');
}
