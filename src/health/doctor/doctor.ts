import { type Config, readConfig } from '../../app/config/config.ts';
import { readEndpoints } from '../../app/data-dir/endpoints-file.ts';
import { dataDirAt } from '../../app/data-dir/data-dir.ts';
import { DEFAULT_PROFILE, type ServiceProfile } from '../../service/profile/profile.ts';
import { isBuiltInSandbox } from '../../app/account/account-guard.ts';
import { readProfile } from '../../app/account/read-profile.ts';
import { openSendingGuard } from '../../app/account/sending-guard.ts';
import { answerWithin } from '../../app/temporal/calls.ts';
import { VERSION } from '../../app/version.ts';
import { type Check, errorText, fine, trouble, unknown, within } from './check.ts';
import { checkDataDirectory, checkFolders } from './check-folders.ts';
import { checkLedger, type Examination, type LedgerChecks, type ReadOnlyLedger } from './check-ledger.ts';
import { accountCheck, checkEvents, checkReceiver, checkService } from './check-service.ts';
import { checkTemporal } from './check-temporal.ts';

/** An embedded ledger takes a second to start, and much longer on a busy machine. */
const EMBEDDED_PATIENCE_MS = 90_000;
const PATIENCE_MS = 20_000;
/** Less than the 8 s that the health page waits, so that a hanging check does not hide the other findings. */
const BESIDE_WORK_PATIENCE_MS = 6_000;
const ACCOUNT_NOT_KNOWN =
  'not known to this process: what was sent is noted for each account, and INVOICING_API_KEY is not set here.';
const ASK_WITH_KEY =
  'Ask where the key is set, as it is for the workers: lote doctor. A batch that may not send says so too.';

/** The input of the doctor; `now` returns epoch milliseconds. */
export interface Examined {
  readonly config: Config;
  /** Null if the file of the profile cannot be used; the doctor then uses the default profile. */
  readonly profile: ServiceProfile | null;
  /** Optional: the ledger that the calling process has open. */
  readonly running?: ReadOnlyLedger | undefined;
  readonly now: () => number;
}

/**
 * Checks everything that Lote needs. Sends no invoice and changes no data of Lote: the ledger refuses writes, the
 * doctor makes no folder, and it only reads from the service. While this process reads an embedded ledger without an
 * owner, it owns the ledger, whose engine starts and recovers its files.
 */
export async function examine(env: NodeJS.ProcessEnv, now: () => number = Date.now): Promise<readonly Check[]> {
  let config: Config;
  try {
    config = readConfig(env);
  } catch (error) {
    const cure =
      'Correct the variables that it names (docs/configuration.md), then ask again: nothing else was looked at.';
    return [trouble('configuration', errorText(error), cure)];
  }
  const { profile, check } = profileOf(config);
  return [
    fine('configuration', `Lote ${VERSION}, application ${config.application}`),
    check,
    ...(await examineParts({ config, profile, now })),
  ];
}

/** Checks everything but configuration and profile. The health page of a running Lote uses these checks, too. */
export async function examineParts({ config, profile, running, now }: Examined): Promise<readonly Check[]> {
  const isRunning = running !== undefined;
  const patienceMs = isRunning ? BESIDE_WORK_PATIENCE_MS : PATIENCE_MS;
  const runs = isRunning || config.databaseUrl !== null || (await readEndpoints(dataDirAt(config.dataDir))) !== null;
  const opening = openedLedger(config, { running, now, patienceMs });
  const ledger = running ?? (await opening).ledger;
  const scene = { config, profile: profile ?? DEFAULT_PROFILE, ledger, isRunning, runs, patienceMs, now };
  const account = accountCheck(scene);
  // The checks that wait for it report its error; before they do, a rejection must not end the process.
  account.catch(() => undefined);
  const look = ([name, check]: Look) => within(name, patienceMs, async () => check({ ...scene, account }));
  const others = Promise.all(OTHERS.map(look));
  const read = await Promise.all(OF_LEDGER.map(look));
  await Promise.allSettled([answerWithin(patienceMs, account)]);
  // Closed before the network has answered, so that the next process need not wait for it.
  const opened = await opening;
  await answerWithin(patienceMs, opened.close());
  return [...opened.checks, ...read.flat(), ...(await others).flat()];
}

/** Opens a separate connection to the ledger, except for an embedded ledger that this process has open. */
async function openedLedger(
  config: Config,
  { running, now, patienceMs }: Pick<Examined, 'running' | 'now'> & { readonly patienceMs: number },
): Promise<LedgerChecks> {
  const none = { checks: [], ledger: null, close: () => Promise.resolve() };
  if (running !== undefined && config.databaseUrl === null) return none;
  const openingMs = config.databaseUrl === null ? EMBEDDED_PATIENCE_MS : patienceMs;
  const opening = checkLedger(config, now);
  const checks = await within('ledger', openingMs, async () => (await opening).checks);
  const known = opening.catch(() => null);
  const ledger = (await answerWithin(0, known))?.ledger ?? null;
  return { checks, ledger, close: async () => (await known)?.close() };
}

function profileOf(config: Config): { readonly profile: ServiceProfile | null; readonly check: Check } {
  const name = 'service profile file';
  try {
    const profile = readProfile(config);
    return { profile, check: fine(name, config.serviceProfilePath ?? 'none: the default profile') };
  } catch (error) {
    const cure = 'Correct the file: lote profile check shows each mistake with its place.';
    return { profile: null, check: trouble(name, errorText(error), cure) };
  }
}

type Look = readonly [name: string, check: (examination: Examination) => Promise<readonly Check[]>];
const OF_LEDGER: readonly Look[] = [
  ['ledger age', sentChecks],
  ['folders', checkFolders],
  ['events', checkEvents],
];
const OTHERS: readonly Look[] = [
  ['temporal', checkTemporal],
  ['data directory', checkDataDirectory],
  ['service', checkService],
  ['receiver', checkReceiver],
];

/** Checks whether Lote has sent invoices that the ledger does not know. Reports `unknown` if the account is unknown. */
async function sentChecks({ config, ledger, account }: Examination): Promise<readonly Check[]> {
  if (ledger === null) return [];
  const name = 'ledger age';
  const guard = openSendingGuard(config, { ledger });
  if (guard === null && !isBuiltInSandbox(config)) return [unknown(name, ACCOUNT_NOT_KNOWN, ASK_WITH_KEY)];
  const missing = guard === null ? await account : null;
  if (missing !== null) return [missing];
  const lost = (await guard?.lostTime()) ?? null;
  if (lost === null && (await guard?.isWitnessed()) === false)
    return [
      trouble(
        name,
        `The ledger has sent invoices, and the reports folder ${config.reportsDir} has no mark of it: Lote cannot tell whether the ledger is older than what was sent.`,
        'Mount the reports folder that was used so far, or correct LOTE_REPORTS_DIR. If there is none, and the ledger was restored from a copy, compare it with the service before you start Lote (docs/deployment.md#restore-the-ledger). Where the ledger is not restored, start Lote: with the next invoices it makes a mark.',
      ),
    ];
  if (lost === null) return [fine(name, 'it knows all that was sent, as far as the reports folder tells')];
  const since = lost.since === null ? '' : ` since ${new Date(lost.since).toISOString()}`;
  return [
    trouble(
      name,
      `It is older than what was sent with it: ${lost.invoices} invoices were sent${since} that it does not know. Lote sends nothing until an operator confirms it.`,
      'Restore a newer copy, or let it learn from the log what was sent: lote confirm-ledger (docs/deployment.md#restore-the-ledger).',
    ),
  ];
}
