import { PROFILE_CONTRADICTION } from '../../../domain/circuit-reasons.ts';
import { confirmService } from '../../../wiring/account/account-guard.ts';
import { readProfile } from '../../../wiring/account/read-profiles.ts';
import { profileDigestOf } from '../../../wiring/profile-fit/profile-digest.ts';
import { EXIT, type ExitCode } from '../../output/exit-codes.ts';
import { chosenApplication } from '../../session/chosen-application.ts';
import { withOwnLedger } from '../../session/with-own-ledger.ts';

interface ConfirmOptions {
  /** Left out or null: the only application. */
  readonly application?: string | null | undefined;
  /** Its words do not contradict each other, whatever was found. */
  readonly isProfileRight?: boolean | undefined;
}

/**
 * `lote confirm-service`: the ledger takes the configured address and key for the application's from now on. Nothing is sent. With `isProfileRight` the next
 * start also ends the stop of a profile that was found to contradict itself.
 */
export async function confirmServiceCommand(
  env: NodeJS.ProcessEnv,
  { application: name = null, isProfileRight = false }: ConfirmOptions = {},
): Promise<ExitCode> {
  const { config, embedded } = chosenApplication(env, name);
  const profile = readProfile(config);
  return withOwnLedger(embedded.config, 'Confirming the service', async (ledger) => {
    const { application, baseUrl } = await confirmService({
      ledger,
      application: config.application,
      isOneOfSeveral: config.isOneOfSeveral,
      account: config.service.kind === 'remote' ? config.service : null,
      profile,
      now: Date.now(),
    });
    process.stdout.write(`Application "${application}" of this ledger uses ${baseUrl} with the configured key.\n`);
    if (isProfileRight) {
      await ledger.clearMisfit(profileDigestOf(config, profile), PROFILE_CONTRADICTION);
      process.stdout.write('Its service profile counts as right; start Lote again.\n');
    }
    return EXIT.ok;
  });
}
