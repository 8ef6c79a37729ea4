import { readConfig, type Config } from '../../runtime/config/config.ts';
import { readEndpoints } from '../../runtime/config/endpoints.ts';
import { dataDirAt } from '../../runtime/data-dir/data-dir.ts';
import { DEFAULT_PROFILE } from '../../service-profile/default-profile.ts';
import type { ServiceProfile } from '../../service-profile/profile.ts';
import { isBuiltInSandbox } from '../account/built-in-sandbox.ts';
import { readProfile } from '../account/open-service.ts';
import { openSendingGuard } from '../account/sending-guard.ts';
import { answerWithin } from '../temporal/answer-within.ts';
import { VERSION } from '../start/version.ts';
import { errorText, fine, trouble, unknown, within, type Check } from './check.ts';
import { checkFolders } from './check-folders.ts';
import { checkLedger, type LedgerChecks } from './check-ledger.ts';
import { checkPeople } from './check-people.ts';
import { checkReceiver } from './check-receiver.ts';
import { accountCheck, checkService } from './check-service.ts';
import { checkTemporal } from './check-temporal.ts';
import type { ReadOnlyLedger } from './read-only-ledger.ts';

/** An embedded ledger takes a second to start, and much longer on a busy machine. */
const EMBEDDED_PATIENCE_MS = 90_000;
const PATIENCE_MS = 20_000;
/** The health page waits for 8 s; what hangs must not hide what answers. */
const BESIDE_WORK_PATIENCE_MS = 6_000;
const ACCOUNT_NOT_KNOWN =
  'not known to this process: what was sent is noted for each account, and INVOICING_API_KEY is not set here.';
const ASK_WITH_KEY =
  'Ask where the key is set, as it is for the workers: lote doctor. A batch that may not send says so too.';

/** What is looked at, and by which clock (epoch milliseconds). */
export interface Examined {
  readonly config: Config;
  /** null: the file of the profile cannot be used; the default stands in for it. */
  readonly profile: ServiceProfile | null;
  /** The ledger of the process that asks; left out: it has none open. */
  readonly running?: ReadOnlyLedger | undefined;
  readonly now: () => number;
}

/**
 * Looks at everything that Lote needs. It sends no invoice, and changes nothing that Lote keeps: the ledger refuses its writes, folders are not
 * made, and the service is only asked. An embedded ledger that nobody owns is owned while it is read: its engine starts, and recovers its files.
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
  const configuration = fine('configuration', `Lote ${VERSION}, application ${config.application}`);
  return [configuration, check, ...(await examineParts({ config, profile, now }))];
}

/** Everything but configuration and profile: what is looked at while Lote runs, too, each part at the same time. */
export async function examineParts({ config, profile, running, now }: Examined): Promise<readonly Check[]> {
  const inForce = profile ?? DEFAULT_PROFILE;
  const isRunning = running !== undefined;
  const patienceMs = isRunning ? BESIDE_WORK_PATIENCE_MS : PATIENCE_MS;
  const runs = isRunning || config.databaseUrl !== null || (await isOwned(config));
  const opening = openedLedger(config, { running, now, patienceMs });
  const ledger = running ?? (await opening).ledger;
  const ledgerId = ledger?.id ?? null;
  const age = within('ledger age', patienceMs, async () => sentChecks(config, inForce, ledger));
  const account = accountCheck({ config, profile: inForce, now }, ledger);
  const folders = within('folders', patienceMs, async () => checkFolders(config, ledger));
  const [groups] = await Promise.all([
    Promise.all([
      age,
      within('temporal', patienceMs, async () => checkTemporal(config, ledgerId)),
      within('service', patienceMs, async () => checkService({ config, profile: inForce, account, isRunning, now })),
      within('receiver', patienceMs, async () => checkReceiver({ config, profile: inForce, ledgerId, runs })),
      folders,
    ]),
    closedAfter(opening, [age, answerWithin(patienceMs, account), folders]),
  ]);
  return [...(await opening).checks, ...groups.flat(), ...checkPeople(config)];
}

/** Whoever starts next must not wait for a network: the ledger is closed once it is read, whatever came of it. */
async function closedAfter(opening: Promise<LedgerChecks>, reads: readonly Promise<unknown>[]): Promise<void> {
  await Promise.allSettled(reads);
  await (await opening).close();
}

async function isOwned({ dataDir }: Config): Promise<boolean> {
  return (await readEndpoints(dataDirAt(dataDir))) !== null;
}

/** Its own connection; an embedded ledger that is open in this process has no second one. */
async function openedLedger(
  config: Config,
  { running, now, patienceMs }: Pick<Examined, 'running' | 'now'> & { readonly patienceMs: number },
): Promise<LedgerChecks> {
  const none = { checks: [], ledger: null, close: () => Promise.resolve() };
  if (running !== undefined && config.databaseUrl === null) return none;
  const openingMs = config.databaseUrl === null ? EMBEDDED_PATIENCE_MS : patienceMs;
  const opening = checkLedger(config, now);
  const checks = await within('ledger', openingMs, async () => (await opening).checks);
  const opened = await answerWithin(
    0,
    opening.catch(() => null),
  );
  if (opened === null)
    void opening.then(
      (late) => late.close(),
      () => undefined,
    );
  return { ...(opened ?? none), checks };
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

/** Whether the ledger is older than what was sent with it. */
async function sentChecks(
  config: Config,
  profile: ServiceProfile,
  ledger: ReadOnlyLedger | null,
): Promise<readonly Check[]> {
  if (ledger === null) return [];
  const name = 'ledger age';
  const log = { warn: () => undefined };
  const guard = openSendingGuard(config, { ledger, profile, log });
  if (guard === null && !isBuiltInSandbox(config)) return [unknown(name, ACCOUNT_NOT_KNOWN, ASK_WITH_KEY)];
  const gap = (await guard?.gap()) ?? null;
  if (gap === null) return [fine(name, 'it knows all that was sent, as far as the reports folder tells')];
  const since = gap.since === 0 ? 'some time' : new Date(gap.since).toISOString();
  const detail = `It is older than what was sent with it: invoices were sent since ${since} that it does not know.`;
  const cure = 'Run again what ran since then, then confirm it: lote confirm-ledger (docs/backup.md).';
  return Date.now() < gap.safeUntil
    ? [
        unknown(
          name,
          `${detail} The service remembers their keys until ${new Date(gap.safeUntil).toISOString()}.`,
          cure,
        ),
      ]
    : [
        trouble(
          name,
          `${detail} Lote sends nothing until somebody confirms.`,
          'Compare reports and service, then: lote confirm-ledger (docs/backup.md).',
        ),
      ];
}
