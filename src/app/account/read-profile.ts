import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import { LoteError } from '../../domain/errors.ts';
import type { Config } from '../config/config.ts';
import { PROFILE_FILE_LIMITS } from '../../service/profile/profile-file.ts';
import { loadProfile } from '../../service/profile/check-profile.ts';
import type { ServiceProfile } from '../../service/profile/profile.ts';

/**
 * Reads the service profile of the configuration.
 * @throws LoteError `configuration-invalid` when the profile cannot be read or is wrong.
 */
export function readProfile({ serviceProfilePath }: Pick<Config, 'serviceProfilePath'>): ServiceProfile {
  return loadProfile(serviceProfilePath === null ? undefined : profileText(serviceProfilePath));
}

/**
 * Returns the text of a profile file; of a file that is too long, only enough to detect that.
 * @throws LoteError `configuration-invalid` when it cannot be read.
 */
export function profileText(path: string, named: 'SERVICE_PROFILE' | 'FILE' = 'SERVICE_PROFILE'): string {
  try {
    return readStart(path, PROFILE_FILE_LIMITS.bytes + 1);
  } catch (cause) {
    throw new LoteError(
      'configuration-invalid',
      `Reading the service profile: ${named} must name a readable file, found ${JSON.stringify(path)}.`,
      { cause },
    );
  }
}

function readStart(path: string, most: number): string {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(most);
    let length = 0;
    for (let read = -1; read !== 0 && length < most; length += read)
      read = readSync(file, bytes, length, most - length, null);
    return bytes.toString('utf8', 0, length);
  } finally {
    closeSync(file);
  }
}

/** Digest under which Lote keeps the calibration: changes with application, service, or how the profile reads answers. */
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
