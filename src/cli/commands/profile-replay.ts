import { resolve } from 'node:path';
import { LoteError } from '../../domain/errors.ts';
import { chooseApplication, readInstallation } from '../../runtime/config/installation.ts';
import { loadProfile } from '../../service-profile/load-profile.ts';
import type { ServiceProfile } from '../../service-profile/profile.ts';
import { readProfile } from '../../wiring/account/read-profiles.ts';
import { profileText } from '../../wiring/account/profile-text.ts';
import { readRecordings } from '../../wiring/recordings/read-recordings.ts';
import { replay } from '../../wiring/replay/replay.ts';
import { EXIT, type ExitCode } from '../output/exit-codes.ts';
import { replayText } from '../output/replay-text.ts';

export interface ProfileReplayCommand {
  readonly directory: string;
  /** Null: the file named by SERVICE_PROFILE, or the default. */
  readonly profile: string | null;
  /** Of several applications, the one whose profile and secrets are used. */
  readonly application?: string;
  readonly json: boolean;
  readonly env: NodeJS.ProcessEnv;
}

/** `lote profile replay DIR`: nothing leaves the machine. */
export async function profileReplayCommand(command: ProfileReplayCommand): Promise<ExitCode> {
  const config = chooseApplication(readInstallation(command.env), command.application ?? null);
  const directory = resolve(command.directory);
  const profile = command.profile === null ? readProfile(config) : profileOf(command.profile);
  const { recordings, mistakes } = await readRecordings(directory, { profile, secrets: config.webhook.secrets });
  if (recordings.length === 0 && mistakes.length === 0)
    throw new LoteError(
      'usage',
      `Reading recorded answers: DIR must hold files of LOTE_CAPTURE (.json) or HAR files (.har), found none in ${JSON.stringify(directory)}.`,
    );
  const result = await replay(profile, recordings);
  process.stdout.write(
    command.json
      ? `${JSON.stringify({ directory, ...result, mistakes })}\n`
      : replayText({ directory, replay: result, mistakes }),
  );
  return result.understood && mistakes.length === 0 ? EXIT.ok : EXIT.someNotIssued;
}

function profileOf(path: string): ServiceProfile {
  return loadProfile(profileText(resolve(path), 'FILE'));
}
