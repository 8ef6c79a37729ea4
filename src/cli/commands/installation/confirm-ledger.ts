import { LoteError } from '../../../domain/errors.ts';
import type { Ledger } from '../../../domain/ports/ledger/ledger.ts';
import { commandLine } from '../../../domain/text/command-line.ts';
import type { Config } from '../../../runtime/config/config.ts';
import { createLogger } from '../../../runtime/process/logger.ts';
import { accountMissingHere, missingHere } from '../../../wiring/account/account-guard.ts';
import { isBuiltInSandbox } from '../../../wiring/account/built-in-sandbox.ts';
import { readProfile } from '../../../wiring/account/read-profiles.ts';
import {
  openSendingGuard,
  sendingScope,
  type ConfirmedGap,
  type SendingGap,
} from '../../../wiring/account/sending-guard.ts';
import {
  lostBatches,
  type LostBatch,
  type LostBatches,
  type UnreadFolder,
} from '../../../wiring/reports/lost-batches.ts';
import { plainText } from '../../../texts/plain-text.ts';
import { EXIT, type ExitCode } from '../../output/exit-codes.ts';
import { chosenApplication } from '../../session/chosen-application.ts';
import { quietLevel } from '../../session/log-level.ts';
import { withOwnLedger } from '../../session/with-own-ledger.ts';

/** Options of `lote confirm-ledger`. */
export interface ConfirmLedgerCommand {
  /** Null, or left out: the only one. */
  readonly application?: string | null | undefined;
  /** Batches of the lost time need not have been run again. */
  readonly leaveLostBatches?: boolean;
}

/**
 * `lote confirm-ledger`: an operator has settled what was sent without the ledger's knowledge. Nothing is sent, and what running batches would send
 * again may be held.
 * @throws LoteError `configuration-invalid`, and `interlock` where the ledger knows a real one, when the account is not known here, so that nobody takes silence
 * for an answer
 */
export async function confirmLedgerCommand(
  env: NodeJS.ProcessEnv,
  { application: name = null, leaveLostBatches = false }: ConfirmLedgerCommand = {},
): Promise<ExitCode> {
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
    const guard = openSendingGuard(config, { ledger, profile, log });
    const lost = await lostSince((await guard?.gap()) ?? null, { config, ledger, leaveLostBatches });
    const gap = (await guard?.confirm(ledger)) ?? null;
    const since = gap === null || gap.since === 0 ? '' : ` since ${new Date(gap.since).toISOString()}`;
    process.stdout.write(
      gap === null
        ? `Nothing to confirm: the ledger knows all that was sent for application "${config.application}".\n`
        : `Confirmed: what was sent${since} without this ledger's knowledge is settled. Lote sends again.\n${noticesOf(gap)}${lostNotice(lost)}`,
    );
    return EXIT.ok;
  });
}

interface LostOptions extends Pick<ConfirmLedgerCommand, 'leaveLostBatches'> {
  readonly config: Config;
  readonly ledger: Ledger;
}

/**
 * Batches of the lost time that the ledger does not know, and folders that may hold the report of one.
 * @throws LoteError `folder-unusable` where there are such folders and nobody has said that they are left; `interlock` while the service remembers the keys: run again now, they bring the same documents, and the ledger knows them
 */
async function lostSince(
  gap: SendingGap | null,
  { config, ledger, leaveLostBatches = false }: LostOptions,
): Promise<LostBatches> {
  const account = sendingScope(config);
  if (gap === null || account === null) return { lost: [], unread: [] };
  const { reportsDir, application } = config;
  const found = await lostBatches({ reportsDir, ledger, application, account, since: gap.since });
  const { lost, unread } = found;
  if (unread.length > 0 && !leaveLostBatches) throw unreadReports(unread, config);
  if (lost.length === 0 || leaveLostBatches || !gap.isRemembered()) return found;
  throw new LoteError(
    'interlock',
    `Confirming the ledger for application "${application}": while the service remembers the keys, every file that ran since the copy must be run again, but the ledger does not know ${namesOf(lost)}. ` +
      `Nothing was confirmed. Drop these files again and wait for their reports, until ${new Date(gap.safeUntil).toISOString()}, then confirm again; ` +
      `if a file must not be run, look into its report and add the option: ${commandLine(config, 'confirm-ledger --leave-lost-batches')}`,
  );
}

function unreadReports(unread: readonly UnreadFolder[], config: Config): LoteError {
  return new LoteError(
    'folder-unusable',
    `Confirming the ledger for application "${config.application}": the folder of each batch in ${config.reportsDir} (LOTE_REPORTS_DIR) must be readable, because its report may tell of invoices that the ledger does not know, ` +
      `but these are not: ${foldersOf(unread)}. Nothing was confirmed. Let the user of this process read them (owner and rights of the folder and its files), then confirm again; ` +
      `if that cannot be, look into their reports yourself and add the option: ${commandLine(config, 'confirm-ledger --leave-lost-batches')}`,
  );
}

/** So many are named; there may be hundreds. */
const NAMED = 20;

function namesOf(lost: readonly LostBatch[]): string {
  return firstOf(lost.map(({ batchId, file }) => `${batchId} (${plainText(file)})`));
}

function foldersOf(unread: readonly UnreadFolder[]): string {
  return firstOf(unread.map(({ name, code }) => `${name} (${code})`));
}

function firstOf(names: readonly string[]): string {
  const others = names.length - NAMED;
  return `${names.slice(0, NAMED).join(', ')}${others > 0 ? ` and ${others} more` : ''}`;
}

function lostNotice({ lost, unread }: LostBatches): string {
  const unreadNotice =
    unread.length === 0
      ? ''
      : `Folders of the reports folder that could not be read: ${unread.length}: ${foldersOf(unread)}. They may tell of batches that this ledger does not know, too.
`;
  return lost.length === 0
    ? unreadNotice
    : `${unreadNotice}Batches of that time that this ledger does not know: ${lost.length}: ${namesOf(lost)}. Their reports are in the reports folder. Send none of their invoices again in another file before you have looked there.
`;
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
