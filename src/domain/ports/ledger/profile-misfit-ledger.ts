import type { NotedMisfit, ProfileMisfit } from '../../profile-misfit.ts';

/**
 * Where every process writes and reads what does not fit the service profile. `profileDigest` stands for an application,
 * its service and its profile (`profileDigestOf`): with a corrected profile, what was found of the former one is gone.
 */
export interface ProfileMisfitLedger {
  /**
   * Adds to what is known under each code; the latest message replaces the one before, cut to 400 characters. A digest
   * has at most 16 codes, and further ones are left out. What was not seen for 30 days is forgotten.
   */
  noteMisfits(profileDigest: string, items: readonly NotedMisfit[]): Promise<void>;
  /** It fits now. */
  clearMisfit(profileDigest: string, code: string): Promise<void>;
  /** The latest first. */
  misfits(profileDigest: string): Promise<readonly ProfileMisfit[]>;
}
