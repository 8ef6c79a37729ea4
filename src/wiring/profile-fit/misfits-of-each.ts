import { profileFindings } from '../../../activities/batch/profile-findings.ts';
import type { Ledger } from '../../domain/ports/ledger/ledger.ts';
import type { ProfileMisfit } from '../../domain/profile-misfit.ts';
import type { Config } from '../../runtime/config/config.ts';
import type { ServiceProfile } from '../../service-profile/profile.ts';
import { profileDigestOf } from './profile-digest.ts';

/** An application whose findings are asked for; `ledger` is the ledger as it uses it. */
export interface MisfitAccount {
  readonly config: Pick<Config, 'application' | 'isOneOfSeveral' | 'service' | 'serviceBaseUrl'>;
  readonly profile: ServiceProfile;
  readonly ledger: Pick<Ledger, 'misfits' | 'breaker'>;
  /** Of the service; null: this process does not know it. */
  readonly baseUrl: string | null;
}

/** What does not fit the service profiles of these applications; of several, each finding names its own. */
export async function misfitsOfEach(accounts: readonly MisfitAccount[]): Promise<readonly ProfileMisfit[]> {
  const found: ProfileMisfit[] = [];
  for (const { config, profile, ledger, baseUrl } of accounts) {
    const inUse = { profileDigest: profileDigestOf(config, profile), baseUrl, now: Date.now };
    // oxlint-disable-next-line no-await-in-loop -- two hundred at once would be a burst
    const findings = await profileFindings(ledger, inUse);
    const { application } = config;
    found.push(
      ...(config.isOneOfSeveral
        ? findings.map((one) => ({ ...one, application, message: `${application}: ${one.message}` }))
        : findings),
    );
  }
  return found;
}
