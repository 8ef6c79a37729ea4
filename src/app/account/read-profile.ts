import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { LoteError } from '../../domain/errors.ts';
import type { Config } from '../config/config.ts';
import { loadProfile } from '../../service/profile/check-profile.ts';
import type { ServiceProfile } from '../../service/profile/profile.ts';

/**
 * Reads the service profile of the configuration.
 * @throws LoteError `configuration-invalid` when the profile cannot be read or is wrong.
 */
export function readProfile({ serviceProfilePath }: Pick<Config, 'serviceProfilePath'>): ServiceProfile {
  return loadProfile(serviceProfilePath === null ? undefined : profileText(serviceProfilePath));
}

/** Returns the text of a profile file. @throws LoteError `configuration-invalid` when it cannot be read. */
export function profileText(path: string, named: 'SERVICE_PROFILE' | 'FILE' = 'SERVICE_PROFILE'): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new LoteError(
      'configuration-invalid',
      `Reading the service profile: ${named} must name a readable file, found ${JSON.stringify(path)}.`,
      { cause },
    );
  }
}

/** Digest under which Lote keeps the calibration. It changes with the application, the service, and the way in which the profile reads answers. */
export function profileDigestOf(
  { application, service, serviceBaseUrl }: Pick<Config, 'application' | 'service' | 'serviceBaseUrl'>,
  profile: ServiceProfile,
): string {
  const { limits: _limits, retry: _retry, ...reading } = profile;
  // The built-in sandbox may have another port at each start.
  const address = service.kind === 'remote' ? service.baseUrl : (serviceBaseUrl ?? service.kind);
  return createHash('sha256')
    .update(JSON.stringify([application, address, reading]))
    .digest('base64url');
}
