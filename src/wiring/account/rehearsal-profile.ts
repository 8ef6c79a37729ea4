import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../runtime/config/config.ts';
import { UnspeakableProfile } from '../../sandbox/dialect/unspeakable.ts';
import { withOwnPlaces } from '../../sandbox/dialect/with-own-places.ts';
import type { ServiceProfile } from '../../service-profile/profile.ts';
import { readProfile } from './read-profiles.ts';

/** How the service profile holds in a rehearsal. */
export interface RehearsalProfile {
  /** Settings of the environment. */
  readonly env: Readonly<Record<string, string>>;
  /** What of the profile holds, as a sentence for the person who waits. */
  readonly note: string;
}

/**
 * Writes the profile of a rehearsal into a folder; null when none is configured. The whole profile is checked as a run would, and the sandbox speaks it, with
 * places of its own where the profile has expressions. Of a profile that it cannot speak, limits and retry hold.
 * @throws LoteError `configuration-invalid` when the profile cannot be read or is wrong.
 */
export function rehearsalProfile(
  config: Pick<Config, 'serviceProfilePath' | 'sandbox'>,
  directory: string,
): RehearsalProfile | null {
  if (config.serviceProfilePath === null) return null;
  // The key of the sandbox is one for tests.
  const profile: ServiceProfile = { ...readProfile(config), environment: null };
  const path = join(directory, 'service-profile.json');
  const write = (held: Partial<ServiceProfile>): void => writeFileSync(path, JSON.stringify(held));
  if (config.sandbox.profilePath !== null) {
    write(profile);
    const env = { SERVICE_PROFILE: path, SANDBOX_PROFILE: config.sandbox.profilePath, ...secretFor(profile) };
    return {
      env,
      note: 'The whole service profile holds in this rehearsal, and the sandbox speaks as SANDBOX_PROFILE says.',
    };
  }
  try {
    const spoken = withOwnPlaces(profile);
    write(spoken.profile);
    const env = { SERVICE_PROFILE: path, SANDBOX_PROFILE: path, ...secretFor(profile) };
    return { env, note: spokenNote(spoken.keys) };
  } catch (error) {
    if (!(error instanceof UnspeakableProfile)) throw error;
    const { limits, retry } = profile;
    write({ limits, retry });
    return { env: { SERVICE_PROFILE: path }, note: `The service profile is valid. ${error.message} ${FALLBACK}` };
  }
}

const FALLBACK = 'Its limits and retry hold in this rehearsal; everything else is as the sandbox speaks.';

function spokenNote(expressions: readonly string[]): string {
  const spoken = 'The whole service profile holds in this rehearsal, and the sandbox speaks as it says';
  if (expressions.length === 0) return `${spoken}.`;
  return `${spoken}, but for ${expressions.join(', ')}: what an expression would find, the sandbox writes at a place of its own, and the expression itself is not rehearsed.`;
}

const SECRET_BYTES = 24;

/** A secret that Lote must know before the address is registered. */
function secretFor({ webhook, signature }: ServiceProfile): Readonly<Record<string, string>> {
  const { kind, secret } = signature;
  if (webhook.register && kind !== 'basic' && kind !== 'path') return {};
  const encoding = kind !== 'hmac' || secret.encoding === 'text' ? 'hex' : secret.encoding;
  const prefix = kind === 'hmac' ? secret.prefix : '';
  return { WEBHOOK_SECRET: prefix + randomBytes(SECRET_BYTES).toString(encoding) };
}
