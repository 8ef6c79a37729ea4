import { profileFindings } from '../../../activities/batch/profile-findings.ts';
import { repeat, type Repetition } from '../../concurrency/repeat.ts';
import type { Ledger } from '../../domain/ports/ledger/ledger.ts';
import type { Config } from '../../runtime/config/config.ts';
import type { ServiceProfile } from '../../service-profile/profile.ts';
import { profileDigestOf } from './profile-digest.ts';

/** Between two looks at the ledger, and between two lines about the same. */
const LOOK_MS = 10_000;
const EVERY_MS = 60_000;
/** What was not seen for so long does not last any more; the health page still shows it. */
const LASTS_MS = 10 * 60_000;

export interface MisfitLog {
  readonly config: Pick<Config, 'application' | 'service' | 'serviceBaseUrl'>;
  readonly profile: ServiceProfile;
  readonly ledger: Pick<Ledger, 'misfits' | 'breaker'>;
  readonly service: { readonly baseUrl: string };
  readonly log: { warn(message: string, fields?: Record<string, unknown>): void };
  readonly lookMs?: number;
  readonly now?: () => number;
}

/** Logs what does not fit the service profile: at once, and then once a minute for as long as it is seen. */
export function logMisfits(parts: MisfitLog): Repetition {
  const { config, profile, ledger, service, log, lookMs = LOOK_MS, now = Date.now } = parts;
  const inUse = { profileDigest: profileDigestOf(config, profile), baseUrl: service.baseUrl, now };
  const loggedAt = new Map<string, number>();

  async function look(): Promise<void> {
    for (const { code, message, times, lastAt } of await profileFindings(ledger, inUse)) {
      const at = now();
      if (at - lastAt >= LASTS_MS || at - (loggedAt.get(code) ?? 0) < EVERY_MS) continue;
      loggedAt.set(code, at);
      log.warn('the service profile does not fit the service', { code, detail: message, times });
    }
  }

  return repeat(lookMs, look, { firstAtOnce: false });
}
