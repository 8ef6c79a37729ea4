import { readConfig } from '../../../runtime/config/config.ts';
import { createLogger } from '../../../runtime/process/logger.ts';
import { readProfile } from '../../../wiring/account/open-service.ts';
import { openSendingGuard } from '../../../wiring/account/sending-guard.ts';
import { EXIT, type ExitCode } from '../../output/exit-codes.ts';
import { quietLevel } from '../../session/log-level.ts';
import { withOwnLedger } from '../../session/with-own-ledger.ts';

/** `lote confirm-ledger`: an operator has settled what was sent without the ledger's knowledge. Nothing is sent. */
export async function confirmLedgerCommand(env: NodeJS.ProcessEnv): Promise<ExitCode> {
  const config = readConfig(env);
  const profile = readProfile(config);
  const log = createLogger({ level: quietLevel(config, env), secrets: config.secrets });
  return withOwnLedger(config, 'Confirming the ledger', async (ledger) => {
    const gap = (await openSendingGuard(config, { ledger, profile, log })?.confirm()) ?? null;
    const since = gap === null || gap.since === 0 ? '' : ` since ${new Date(gap.since).toISOString()}`;
    process.stdout.write(
      gap === null
        ? `Nothing to confirm: the ledger knows all that was sent for application "${config.application}".\n`
        : `Confirmed: what was sent${since} without this ledger's knowledge is settled. Lote sends again.\n`,
    );
    return EXIT.ok;
  });
}
