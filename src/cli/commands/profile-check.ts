import { resolve } from 'node:path';
import { LoteError } from '../../domain/errors.ts';
import { chooseApplication, readInstallation } from '../../runtime/config/installation.ts';
import { differencesFromDefault } from '../../service-profile/check/differences.ts';
import { checkProfile } from '../../service-profile/check-profile.ts';
import { profileText } from '../../wiring/account/profile-text.ts';
import { EXIT, type ExitCode } from '../output/exit-codes.ts';
import { checkedProfileText } from '../output/checked-profile-text.ts';

export interface ProfileCheckCommand {
  /** Null: the file named by SERVICE_PROFILE, or by "serviceProfile" of the application. */
  readonly file: string | null;
  /** Of several applications, the one whose profile is checked. */
  readonly application?: string;
  readonly json: boolean;
  readonly env: NodeJS.ProcessEnv;
}

/** `lote profile check [FILE]`: nothing leaves the machine. */
export function profileCheckCommand({ file, json, env, application }: ProfileCheckCommand): ExitCode {
  const path = file === null ? configuredPath(env, application ?? null) : resolve(file);
  const { profile, mistakes } = checkProfile(profileText(path, file === null ? 'SERVICE_PROFILE' : 'FILE'));
  const checked = { file: path, mistakes, differences: profile === null ? [] : differencesFromDefault(profile) };
  process.stdout.write(
    json ? `${JSON.stringify({ valid: profile !== null, ...checked })}\n` : checkedProfileText(checked),
  );
  return profile === null ? EXIT.usage : EXIT.ok;
}

function configuredPath(env: NodeJS.ProcessEnv, application: string | null): string {
  const installation = readInstallation(env, process.cwd(), 'nothing');
  const { serviceProfilePath } = chooseApplication(installation, application);
  if (serviceProfilePath !== null) return serviceProfilePath;
  throw new LoteError(
    'usage',
    'Checking a service profile: expected a file, or its path in SERVICE_PROFILE, found neither. Name one: `lote profile check FILE`.',
  );
}
