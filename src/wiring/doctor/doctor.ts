import { ANY_APPLICATION, commandLine } from '../../domain/text/command-line.ts';
import type { BatchRecord } from '../../domain/ports/ledger/batch-record.ts';
import type { Config } from '../../runtime/config/config.ts';
import { readEndpoints } from '../../runtime/data-dir/endpoints-file.ts';
import { readInstallation, type Installation } from '../../runtime/config/installation.ts';
import { dataDirAt } from '../../runtime/data-dir/data-dir.ts';
import { DEFAULT_PROFILE } from '../../service-profile/default-profile.ts';
import type { ServiceProfile } from '../../service-profile/profile.ts';
import { isBuiltInSandbox } from '../account/built-in-sandbox.ts';
import { readProfile } from '../account/read-profiles.ts';
import { openSendingGuard } from '../account/sending-guard.ts';
import { answerWithin } from '../temporal/answer-within.ts';
import { VERSION } from '../../runtime/version.ts';
import { errorText, fine, trouble, unknown, within, type Check } from './check.ts';
import { checkCertificate } from './check-certificate.ts';
import { checkDataDirectory, checkFolders } from './check-folders.ts';
import { checkLedger, type LedgerChecks } from './check-ledger.ts';
import { checkPeople } from './check-people.ts';
import { checkReceiver } from './check-receiver.ts';
import { accountCheck, checkAccount, checkServiceAddress, type AddressChecks } from './check-service.ts';
import { checkTemporal } from './check-temporal.ts';
import type { ReadOnlyLedger } from './read-only-ledger.ts';

/** An embedded ledger takes a second to start, and much longer on a busy machine. */
const EMBEDDED_PATIENCE_MS = 90_000;
const PATIENCE_MS = 20_000;
/** The health page waits for 8 s; what hangs must not hide what answers. */
const BESIDE_WORK_PATIENCE_MS = 6_000;
/** What answered in time must be known in time, whatever else did not answer. */
const SPARE_MS = 500;
/** Of each application: one would be enough to know. */
const MOST_OPEN = 50;
/** Applications that are looked at at the same time: each asks the service once. */
const AT_ONCE = 8;
const ACCOUNT_NOT_KNOWN =
  'not known to this process: what was sent is noted for each account, and INVOICING_API_KEY is not set here.';
const ASK_WITH_KEY =
  'Ask where the key is set, as it is for the workers: lote doctor. A batch that may not send says so too.';

/** An application, with the profile of its service. */
export interface ExaminedApplication {
  readonly config: Config;
  /** null: the file of the profile cannot be used; the default stands in for it. */
  readonly profile: ServiceProfile | null;
}

/** What is looked at, and by which clock (epoch milliseconds). */
export interface Examined {
  /** What the applications have in common; of the only one all that it has. */
  readonly common: Config;
  readonly applications: readonly [ExaminedApplication, ...ExaminedApplication[]];
  /** The ledger of the process that asks; left out: it has none open. */
  readonly running?: ReadOnlyLedger | undefined;
  readonly now: () => number;
}

/**
 * Looks at everything that Lote needs. It sends no invoice, and changes nothing that Lote keeps: the ledger refuses its writes, folders are not
 * made, and the service is only asked. An embedded ledger that nobody owns is owned while it is read: its engine starts, and recovers its files.
 */
export async function examine(env: NodeJS.ProcessEnv, now: () => number = Date.now): Promise<readonly Check[]> {
  let installation: Installation;
  try {
    installation = readInstallation(env);
  } catch (error) {
    const cure =
      'Correct the variables or files that it names (docs/configuration.md, docs/applications.md), then ask again: nothing else was looked at.';
    return [trouble('configuration', errorText(error), cure)];
  }
  return examineInstallation(installation, now);
}

/** The same for an installation that could be read. */
export async function examineInstallation(
  { common, applications, several }: Installation,
  now: () => number,
): Promise<readonly Check[]> {
  const [first, ...others] = applications;
  const names = applications.map(({ application }) => application);
  const which = several ? `${names.length} applications` : `application ${names.join()}`;
  const isAlone = others.length === 0;
  const profiled: readonly [Profiled, ...Profiled[]] = [
    profileOf(first, isAlone),
    ...others.map((one) => profileOf(one, isAlone)),
  ];
  return [
    fine('configuration', `Lote ${VERSION}, ${which}`),
    ...profiled.flatMap(({ config, check }) => about(config, [check])),
    ...(await examineParts({ common, applications: profiled, now })),
  ];
}

/**
 * Everything but configuration and profiles: what is looked at while Lote runs, too. What the applications have in
 * common is looked at once.
 */
export async function examineParts({ common, applications, running, now }: Examined): Promise<readonly Check[]> {
  const [first, ...others] = applications;
  const isRunning = running !== undefined;
  const patienceMs = isRunning ? BESIDE_WORK_PATIENCE_MS : PATIENCE_MS;
  const runs = isRunning || common.databaseUrl !== null || (await isOwned(common));
  const opening = openedLedger(common, { running, now, patienceMs });
  const ledger = running ?? (await opening).ledger;
  const reader = { application: ANY_APPLICATION, isOneOfSeveral: first.config.isOneOfSeveral };
  const configs: [Config, ...Config[]] = [first.config, ...others.map(({ config }) => config)];
  const address = checkServiceAddress({ config: first.config, now });
  const open = openBatches(ledger);
  const ledgerId = ledger?.id ?? null;
  const own = examineEach(applications, { ledger, address, runs, isRunning, patienceMs, now });
  const [shared, each] = await Promise.all([
    Promise.all([
      within('temporal', patienceMs, async () =>
        checkTemporal({ common, applications: configs, ledgerId, open, patienceMs: patienceMs - SPARE_MS }),
      ),
      within('temporal certificate', patienceMs, async () => checkCertificate(common.temporal, now())),
      within('service', patienceMs, async () => (await address).checks),
      within('data directory', patienceMs, async () => checkDataDirectory(common.dataDir, reader)),
    ]),
    own.checks,
    closedAfter(opening, [...own.reads, answerWithin(patienceMs, open)]),
  ]);
  return [...(await opening).checks, ...shared.flat(), ...checkPeople(common), ...each];
}

interface Examining {
  readonly ledger: ReadOnlyLedger | null;
  readonly address: Promise<AddressChecks>;
  readonly runs: boolean;
  readonly isRunning: boolean;
  readonly patienceMs: number;
  readonly now: () => number;
}

/** Looks at what each application has for itself. `reads` end when the ledger is not needed any more. */
function examineEach(
  applications: readonly ExaminedApplication[],
  parts: Examining,
): { readonly checks: Promise<readonly Check[]>; readonly reads: readonly Promise<unknown>[] } {
  let before: Promise<unknown> = Promise.resolve();
  const each = applications.flatMap((_, first) => {
    if (first % AT_ONCE !== 0) return [];
    const turn = before;
    const some = applications.slice(first, first + AT_ONCE).map(async (one) => {
      await turn;
      return examineOne(one, parts);
    });
    before = Promise.all(some.map(async (one) => (await one).checks));
    return some;
  });
  return {
    checks: Promise.all(each.map(async (one) => (await one).checks)).then((all) => all.flat()),
    reads: each.map(async (one) => (await one).read),
  };
}

function examineOne({ config, profile }: ExaminedApplication, parts: Examining) {
  const { ledger, address, runs, isRunning, patienceMs, now } = parts;
  const inForce = profile ?? DEFAULT_PROFILE;
  const account = accountCheck({ config, profile: inForce, now }, ledger);
  const age = within('ledger age', patienceMs, async () => sentChecks(config, { profile: inForce, ledger, account }));
  const folders = within('folders', patienceMs, async () => checkFolders(config, ledger));
  const ledgerId = ledger?.id ?? null;
  const checks = Promise.all([
    age,
    within('service', patienceMs, async () =>
      (await address).isReached ? checkAccount({ config, profile: inForce, account, isRunning, now }) : [],
    ),
    within('receiver', patienceMs, async () => checkReceiver({ config, profile: inForce, ledgerId, runs })),
    folders,
  ]);
  return {
    checks: checks.then((found) => about(config, found.flat())),
    read: Promise.allSettled([age, answerWithin(patienceMs, account), folders]),
  };
}

/** The newest that have not ended. */
async function openBatches(ledger: ReadOnlyLedger | null): Promise<readonly BatchRecord[]> {
  // What is wrong with the ledger is said by its own checks.
  return ledger === null ? [] : ledger.newestOpenBatches(MOST_OPEN).catch(() => []);
}

/** Of several applications, each check says which one it is about. */
function about({ application, isOneOfSeveral }: Config, checks: readonly Check[]): readonly Check[] {
  return isOneOfSeveral ? checks.map((check) => ({ ...check, application })) : checks;
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

const WITHOUT_PREFIX =
  'Set it to what every id of the service begins with, or give this account an installation of its own (docs/applications.md).';

type Profiled = ExaminedApplication & { readonly check: Check };

function profileOf(config: Config, isAlone: boolean): Profiled {
  const name = 'service profile file';
  try {
    const profile = readProfile(config);
    const check =
      isAlone || profile.invoice.idPrefix !== ''
        ? fine(name, config.serviceProfilePath ?? 'none: the default profile')
        : trouble(name, 'invoice.idPrefix is empty: two of several applications could get one id.', WITHOUT_PREFIX);
    return { config, profile, check };
  } catch (error) {
    const cure = 'Correct the file: lote profile check shows each mistake with its place.';
    return { config, profile: null, check: trouble(name, errorText(error), cure) };
  }
}

function notWitnessed({ reportsDir }: Config): Check {
  return trouble(
    'ledger age',
    `The ledger has sent invoices, and the reports folder ${reportsDir} has no mark of it: nobody can tell whether the ledger is older than what was sent.`,
    'Mount the reports folder that was used so far, or correct LOTE_REPORTS_DIR. If there is none, and the ledger was restored from a copy, compare it with the service before you start Lote (docs/operations/backup.md). Where the ledger is not restored, start Lote: with the next invoices it makes a mark.',
  );
}

interface SentParts {
  readonly profile: ServiceProfile;
  readonly ledger: ReadOnlyLedger | null;
  /** What `accountCheck` found. */
  readonly account: Promise<Check | null>;
}

/** Whether the ledger is older than what was sent with it. Nobody can tell where the account is missing, which is said then. */
async function sentChecks(config: Config, { profile, ledger, account }: SentParts): Promise<readonly Check[]> {
  if (ledger === null) return [];
  const name = 'ledger age';
  const log = { warn: () => undefined };
  const guard = openSendingGuard(config, { ledger, profile, log });
  if (guard === null && !isBuiltInSandbox(config)) return [unknown(name, ACCOUNT_NOT_KNOWN, ASK_WITH_KEY)];
  const missing = guard === null ? await account : null;
  if (missing !== null) return [missing];
  const gap = (await guard?.gap()) ?? null;
  if (gap === null && (await guard?.isWitnessed()) === false) return [notWitnessed(config)];
  if (gap === null) return [fine(name, 'it knows all that was sent, as far as the reports folder tells')];
  const since = gap.since === 0 ? 'some time' : new Date(gap.since).toISOString();
  const detail = `It is older than what was sent with it: invoices were sent since ${since} that it does not know.`;
  const confirm = commandLine(config, 'confirm-ledger');
  const cure = `Run again what ran since then, then confirm it: ${confirm} (docs/operations/backup.md).`;
  return gap.isRemembered()
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
          `Compare reports and service, then: ${confirm} (docs/operations/backup.md).`,
        ),
      ];
}
