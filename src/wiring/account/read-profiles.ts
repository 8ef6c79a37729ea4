import { LoteError } from '../../domain/errors.ts';
import type { Config } from '../../runtime/config/config.ts';
import { loadProfile } from '../../service-profile/load-profile.ts';
import type { ServiceProfile } from '../../service-profile/profile.ts';
import { profileText } from './profile-text.ts';

/** An application with the profile of its service. */
export interface ProfiledApplication {
  readonly config: Config;
  readonly profile: ServiceProfile;
}

/**
 * The service profile, with the rate of the application where its file gives one.
 * @throws LoteError `configuration-invalid` when the profile cannot be read or is wrong.
 */
export function readProfile({
  serviceProfilePath,
  rate = null,
}: Pick<Config, 'serviceProfilePath'> & Partial<Pick<Config, 'rate'>>): ServiceProfile {
  const profile = loadProfile(serviceProfilePath === null ? undefined : profileText(serviceProfilePath));
  if (rate === null) return profile;
  return {
    ...profile,
    limits: {
      ...profile.limits,
      requestsPerSecond: rate.requestsPerSecond ?? profile.limits.requestsPerSecond,
      maxConcurrency: rate.maxConcurrency ?? profile.limits.maxConcurrency,
    },
  };
}

/**
 * The service profile of each application, before anything is opened. The ledger holds each id of the service once, over
 * all applications: a service whose ids have no prefix may number the invoices of each account.
 * @throws LoteError `configuration-invalid` when a profile is wrong, or one of several has an empty `invoice.idPrefix`
 */
export function readProfiles([first, ...others]: readonly [Config, ...Config[]]): [
  ProfiledApplication,
  ...ProfiledApplication[],
] {
  const profiled = (config: Config): ProfiledApplication => ({ config, profile: readProfile(config) });
  const all: [ProfiledApplication, ...ProfiledApplication[]] = [profiled(first), ...others.map(profiled)];
  const unmarked = all.filter(({ profile }) => profile.invoice.idPrefix === '');
  if (others.length === 0 || unmarked.length === 0) return all;
  const named = unmarked.map(({ config }) => `${config.application} (${config.serviceProfilePath ?? 'built in'})`);
  throw new LoteError(
    'configuration-invalid',
    `Reading the applications: invoice.idPrefix of a service profile must not be empty where there are several, because numbers that each account counts for itself give two documents one id; it is empty for ${named.join(', ')}. Set it to what every id begins with. Where ids have no such beginning, give each account an installation of its own, with its own LOTE_DATA_DIR, LOTE_TASK_QUEUE and DATABASE_URL.`,
  );
}
