import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../runtime/config/config.ts';
import { readProfile } from './open-service.ts';

/**
 * Writes the profile of a rehearsal into a folder and gives its path; null when none is configured. The whole profile is
 * checked as a run would; of it, limits and retry hold, because the sandbox speaks the default's places and words.
 * @throws LoteError `configuration-invalid` when the profile cannot be read or is wrong.
 */
export function rehearsalProfile(config: Pick<Config, 'serviceProfilePath'>, directory: string): string | null {
  if (config.serviceProfilePath === null) return null;
  const { limits, retry } = readProfile(config);
  const path = join(directory, 'service-profile.json');
  writeFileSync(path, JSON.stringify({ limits, retry }));
  return path;
}
