import { LoteError } from '../../domain/errors.ts';
import { readConfig } from '../../app/config/config.ts';
import { confirmService, isBuiltInSandbox, requireAccountHere } from '../../app/account/account-guard.ts';
import { openSendingGuard, type ConfirmedLedger } from '../../app/account/sending-guard.ts';
import { EXIT, type ExitCode } from '../output/exit-codes.ts';
import { withOwnLedger } from '../session/open-session.ts';
import { readProfile, profileDigestOf } from '../../app/account/read-profile.ts';

/**
 * `lote confirm-ledger`: lets a restored or new ledger send again, and teaches it the keys of the send log. Sends
 * nothing.
 * @throws LoteError `configuration-invalid` if no account is configured; `interlock` if the ledger knows a real account
 * that is missing here
 */
export async function confirmLedgerCommand(env: NodeJS.ProcessEnv): Promise<ExitCode> {
  const config = readConfig(env);
  if (config.service.kind === 'sandbox' && !isBuiltInSandbox(config))
    throw new LoteError(
      'configuration-invalid',
      'Confirming the ledger: what was sent is noted for each account, so INVOICING_BASE_URL and INVOICING_API_KEY (or INVOICING_API_KEY_FILE) must be set, as they are for the workers; found neither. Nothing was confirmed.',
    );
  return withOwnLedger(config, 'Confirming the ledger', async (ledger) => {
    const account = config.service.kind === 'remote' ? config.service : null;
    await requireAccountHere({ ledger, application: config.application, account }, 'Confirming the ledger');
    const confirmed = (await openSendingGuard(config, { ledger })?.confirm(ledger)) ?? null;
    process.stdout.write(
      confirmed === null
        ? `Nothing to confirm: the ledger knows all that was sent for application "${config.application}".\n`
        : confirmedText(confirmed),
    );
    return EXIT.ok;
  });
}

function confirmedText({ invoices, since, held, refused, flagged }: ConfirmedLedger): string {
  const when = since === null ? '' : ` since ${new Date(since).toISOString()}`;
  const notices = [
    [held, 'Invoices that batches of the copy had still to send: #. They are held: run their files again.'],
    [refused, 'Files that the copy was still reading: #. They are refused: run them again.'],
    [
      flagged,
      'Invoices that were sent again with another key in that time: # (flag older-ledger). Look into the reports of that time, and retry those that were not issued with --accept-duplicate-risk.',
    ],
  ] as const;
  const lines = notices.flatMap(([count, text]) => (count > 0 ? [text.replace('#', String(count))] : []));
  return `${[
    `Confirmed: ${invoices} invoices were sent${when} without this ledger, and it knows their keys now. Lote sends again.`,
    'Run the files of that time again: while the service remembers a key, its repeat brings the same document; afterwards the invoice is held.',
    ...lines,
  ].join('\n')}\n`;
}

/**
 * `lote confirm-service`: the ledger accepts the configured address and key, and the ids in its list of merchants, as
 * right. Sends nothing. With `profile`, the service profile counts as proved, whatever Lote found.
 */
export async function confirmServiceCommand(
  env: NodeJS.ProcessEnv,
  { profile: isProfileRight = false }: { readonly profile?: boolean } = {},
): Promise<ExitCode> {
  const config = readConfig(env);
  const profile = readProfile(config);
  return withOwnLedger(config, 'Confirming the service', async (ledger) => {
    const account = config.service.kind === 'remote' ? config.service : null;
    const known = { ledger, application: config.application, account, profile, now: Date.now() };
    const { application, baseUrl } = await confirmService(known);
    process.stdout.write(
      `Application "${application}" of this ledger uses ${baseUrl} with the configured key. The ids in its list of merchants count as right.\n`,
    );
    if (isProfileRight) {
      await ledger.calibrate(profileDigestOf(config, profile), (draft) => void (draft.trusted = true));
      process.stdout.write('Its service profile counts as right.\n');
    }
    return EXIT.ok;
  });
}
