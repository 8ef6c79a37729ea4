import { LoteError } from '../../domain/errors.ts';
import type { Config } from '../../runtime/config/config.ts';
import { profileDialect } from '../../sandbox/dialect/profile-dialect.ts';
import { UnspeakableProfile } from '../../sandbox/dialect/unspeakable.ts';
import { loadProfile } from '../../service-profile/load-profile.ts';
import { profileText } from './profile-text.ts';

/**
 * The text of the profile that the sandbox shall speak; null: as published. It is checked as a profile first, and then whether the sandbox can speak it.
 * @throws LoteError `configuration-invalid` when it cannot be read, is wrong, or cannot be spoken.
 */
export function sandboxProfile({ sandbox: { profilePath } }: Pick<Config, 'sandbox'>): string | null {
  if (profilePath === null) return null;
  const text = profileText(profilePath, 'SANDBOX_PROFILE');
  loadProfile(text, 'SANDBOX_PROFILE');
  try {
    profileDialect(text);
    return text;
  } catch (cause) {
    if (!(cause instanceof UnspeakableProfile)) throw cause;
    throw new LoteError('configuration-invalid', `Reading SANDBOX_PROFILE: ${cause.message}`, { cause });
  }
}
