import { resolve } from 'node:path';
import { LoteError } from '../../domain/errors.ts';
import { readConfig } from '../../runtime/config/config.ts';
import { differencesFromDefault } from '../../service-profile/check/differences.ts';
import { checkProfile } from '../../service-profile/check-profile.ts';
import { profileText } from '../../wiring/account/profile-text.ts';
import { EXIT, type ExitCode } from '../output/exit-codes.ts';
import { checkedProfileText } from '../output/profile-text.ts';

export interface ProfileCheckCommand {
  /** Null: the file named by SERVICE_PROFILE. */
  readonly file: string | null;
  readonly json: boolean;
  readonly env: NodeJS.ProcessEnv;
}

/** `lote profile check [FILE]`: nothing leaves the machine. */
export function profileCheckCommand({ file, json, env }: ProfileCheckCommand): ExitCode {
  const path = file === null ? configuredPath(env) : resolve(file);
  const { profile, mistakes } = checkProfile(profileText(path, file === null ? 'SERVICE_PROFILE' : 'FILE'));
  const checked = { file: path, mistakes, differences: profile === null ? [] : differencesFromDefault(profile) };
  process.stdout.write(
    json ? `${JSON.stringify({ valid: profile !== null, ...checked })}\n` : checkedProfileText(checked),
  );
  return profile === null ? EXIT.usage : EXIT.ok;
}

function configuredPath(env: NodeJS.ProcessEnv): string {
  const { serviceProfilePath } = readConfig(env);
  if (serviceProfilePath !== null) return serviceProfilePath;
  throw new LoteError(
    'usage',
    'Checking a service profile: expected a file, or its path in SERVICE_PROFILE, found neither. Name one: `lote profile check FILE`.',
  );
}
