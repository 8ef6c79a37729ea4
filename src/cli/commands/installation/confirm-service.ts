import { confirmService } from '../../../wiring/account/account-guard.ts';
import { readProfile } from '../../../wiring/account/read-profiles.ts';
import { EXIT, type ExitCode } from '../../output/exit-codes.ts';
import { chosenApplication } from '../../session/chosen-application.ts';
import { withOwnLedger } from '../../session/with-own-ledger.ts';

/** `lote confirm-service`: the ledger takes the configured address and key for the application's from now on. Nothing is sent. */
export async function confirmServiceCommand(env: NodeJS.ProcessEnv, name: string | null = null): Promise<ExitCode> {
  const { config, embedded } = chosenApplication(env, name);
  return withOwnLedger(embedded.config, 'Confirming the service', async (ledger) => {
    const { application, baseUrl } = await confirmService({
      ledger,
      application: config.application,
      isOneOfSeveral: config.isOneOfSeveral,
      account: config.service.kind === 'remote' ? config.service : null,
      profile: readProfile(config),
      now: Date.now(),
    });
    process.stdout.write(`Application "${application}" of this ledger uses ${baseUrl} with the configured key.\n`);
    return EXIT.ok;
  });
}
