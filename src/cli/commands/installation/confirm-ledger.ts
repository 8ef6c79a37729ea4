import { LoteError } from '../../../domain/errors.ts';
import { createLogger } from '../../../runtime/process/logger.ts';
import { accountMissingHere, missingHere } from '../../../wiring/account/account-guard.ts';
import { isBuiltInSandbox } from '../../../wiring/account/built-in-sandbox.ts';
import { readProfile } from '../../../wiring/account/read-profiles.ts';
import { openSendingGuard, type ConfirmedGap } from '../../../wiring/account/sending-guard.ts';
import { EXIT, type ExitCode } from '../../output/exit-codes.ts';
import { chosenApplication } from '../../session/chosen-application.ts';
import { quietLevel } from '../../session/log-level.ts';
import { withOwnLedger } from '../../session/with-own-ledger.ts';

/**
 * `lote confirm-ledger`: an operator has settled what was sent without the ledger's knowledge. Nothing is sent, and what running batches would send
 * again may be held.
 * @throws LoteError `configuration-invalid`, and `interlock` where the ledger knows a real one, when the account is not known here, so that nobody takes silence
 * for an answer
 */
export async function confirmLedgerCommand(env: NodeJS.ProcessEnv, name: string | null = null): Promise<ExitCode> {
  const { config, embedded } = chosenApplication(env, name);
  if (config.service.kind === 'sandbox' && !isBuiltInSandbox(config))
    throw new LoteError(
      'configuration-invalid',
      'Confirming the ledger: what was sent is noted for each account, so INVOICING_BASE_URL and INVOICING_API_KEY (or INVOICING_API_KEY_FILE) must be set, as they are for the workers; found neither. Nothing was confirmed.',
    );
  const profile = readProfile(config);
  const log = createLogger({ level: quietLevel(config, env), secrets: config.secrets });
  return withOwnLedger(embedded.config, 'Confirming the ledger', async (ledger) => {
    const account = config.service.kind === 'remote' ? config.service : null;
    const missing = await accountMissingHere({ ledger, application: config.application, account });
    if (missing !== null) throw missingHere('Confirming the ledger', missing, 'Nothing was confirmed');
    const gap = (await openSendingGuard(config, { ledger, profile, log })?.confirm(ledger)) ?? null;
    const since = gap === null || gap.since === 0 ? '' : ` since ${new Date(gap.since).toISOString()}`;
    process.stdout.write(
      gap === null
        ? `Nothing to confirm: the ledger knows all that was sent for application "${config.application}".\n`
        : `Confirmed: what was sent${since} without this ledger's knowledge is settled. Lote sends again.\n${noticesOf(gap)}`,
    );
    return EXIT.ok;
  });
}

function noticesOf({ held, refused, doubtful }: ConfirmedGap): string {
  const notices = [
    [
      held,
      'Unsent invoices of running batches that may have been sent in that time: # (held, older-ledger). Compare them with the service, and retry those that were not issued with --accept-duplicate-risk.',
    ],
    [
      refused,
      'Files that were still being read: #. They are refused (older-ledger): drop again what was not sent in that time.',
    ],
    [
      doubtful,
      'All invoices that are held, failed or rejected, and may have been sent, or sent again, in that time: # (flag older-ledger). Nothing of them goes by itself: retry those that were not issued with --accept-duplicate-risk.',
    ],
  ] as const;
  return notices
    .filter(([count]) => count > 0)
    .map(([count, text]) => `${text.replace('#', String(count))}\n`)
    .join('');
}
