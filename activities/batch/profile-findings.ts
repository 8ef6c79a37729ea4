import type { Ledger } from '../../src/domain/ports/ledger/ledger.ts';
import { DELIVERIES_UNPROVEN, type ProfileMisfit } from '../../src/domain/profile-misfit.ts';

/** Reasons of an open circuit breaker that lie in the service profile. */
const OF_THE_PROFILE = /^(?:answers-unreadable|profile-contradiction|service-ids-repeated)$/;

/** Whose findings are asked for. */
export interface ProfileInUse {
  readonly profileDigest: string;
  /** Null: this process does not know the service. */
  readonly baseUrl: string | null;
  readonly now: () => number;
}

/**
 * What is known of a service profile that does not fit: why nothing is sent, first, then what was noted, the latest
 * first. Doubtful findings are left out.
 */
export async function profileFindings(
  ledger: Pick<Ledger, 'misfits' | 'breaker'>,
  { profileDigest, baseUrl, now }: ProfileInUse,
): Promise<readonly ProfileMisfit[]> {
  const noted = (await ledger.misfits(profileDigest)).filter(({ code }) => code !== DELIVERIES_UNPROVEN);
  const breaker = baseUrl === null ? null : await ledger.breaker(baseUrl);
  if (breaker === null || !OF_THE_PROFILE.test(breaker.reason.code)) return noted;
  const { reason, openedAt: firstAt } = breaker;
  return [{ ...reason, times: 1, firstAt, lastAt: now() }, ...noted.filter(({ code }) => code !== reason.code)];
}
