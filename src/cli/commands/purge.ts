import { setTimeout as sleep } from 'node:timers/promises';
import ms from 'ms';
import { LoteError } from '../../domain/errors.ts';
import { SHORTEST_PURGE_AGE_MS, type Purged } from '../../domain/ports/ledger/purge-ledger.ts';
import type { Config } from '../../runtime/config/config.ts';
import { chooseApplication, readInstallation, type Installation } from '../../runtime/config/installation.ts';
import { openDataDir } from '../../runtime/data-dir/data-dir.ts';
import { acquireDirectoryLock } from '../../runtime/data-dir/directory-lock.ts';
import { createCommonFolders } from '../../wiring/folders/common-folders.ts';
import { openLedger } from '../../wiring/account/open-ledger.ts';
import { findOwner, type OwnerApi } from '../../wiring/operator/owner-api.ts';
import { purgeBatches } from '../../wiring/operator/purge-batches.ts';
import { namedInput } from '../../wiring/temporal/named-input.ts';
import { requireClock, type ClockUse } from '../../wiring/worker/require-clock.ts';
import { EXIT, type ExitCode } from '../output/exit-codes.ts';

/** An owner that is just starting or leaving is asked, or its place taken, within this time. */
const OWNER_PATIENCE_MS = 60_000;
const POLL_INTERVAL_MS = 250;
/** Batches that stay, on the terminal. */
const MOST_SHOWN = 10;

const CLOCK_USE: ClockUse = {
  attempted: 'Purging',
  because: 'what a clock that is ahead takes for old is gone for good',
  left: 'Nothing was removed.',
};

/** Options of `lote purge`: `olderThan` is a duration such as `400d`. */
export interface PurgeCommand {
  readonly olderThan: string;
  readonly dryRun: boolean;
  readonly json: boolean;
  /** Of several applications, the one whose batches are purged. */
  readonly application?: string;
  /** Those of each application. */
  readonly everyApplication?: boolean;
  readonly env: NodeJS.ProcessEnv;
  readonly ownerPatienceMs?: number;
}

interface Request {
  readonly olderThanMs: number;
  readonly dryRun: boolean;
}

/** Where the ledger is, and whose batches are purged. */
interface Purging {
  readonly common: Config;
  readonly applications: readonly Config[];
  readonly request: Request;
}

/** `lote purge --older-than 400d`, also while batches run. */
export async function purgeCommand({ olderThan, json, env, ...given }: PurgeCommand): Promise<ExitCode> {
  const request = { olderThanMs: ageOf(olderThan), dryRun: given.dryRun };
  const installation = readInstallation(env, process.cwd(), 'nothing');
  const { common } = installation;
  const purging = { common, applications: chosenApplications(installation, given), request };
  const purged =
    common.databaseUrl === null
      ? await purgeDataDirectory(purging, given.ownerPatienceMs ?? OWNER_PATIENCE_MS)
      : await purgeLedger(purging);
  const { dryRun } = request;
  process.stdout.write(json ? `${JSON.stringify({ dryRun, purged })}\n` : textOf(purged, dryRun));
  return EXIT.ok;
}

/** What is purged is gone: of several applications, nobody's batches go because a name was left out. */
function chosenApplications(
  installation: Installation,
  { application = null, everyApplication = false }: { application?: string | null; everyApplication?: boolean },
): readonly Config[] {
  if (!everyApplication) return [chooseApplication(installation, application)];
  if (application === null) return installation.applications;
  throw new LoteError('usage', 'Purging: --application and --every-application exclude each other; found both.');
}

/** One process owns the embedded ledger. Without an owner the purge runs here, else the owner does it. */
async function purgeDataDirectory(purging: Purging, patienceMs: number): Promise<Purged> {
  const { common } = purging;
  const dataDir = await openDataDir(common.dataDir);
  for (let waited = 0; waited < patienceMs; waited += POLL_INTERVAL_MS) {
    const lock = await acquireDirectoryLock(dataDir.path);
    if (lock !== null) {
      try {
        return await purgeLedger(purging);
      } finally {
        await lock.release();
      }
    }
    const owner = await findOwner(dataDir);
    const purged = owner === null ? null : await purgeThroughOwner(owner, purging);
    if (purged !== null) return purged;
    await sleep(POLL_INTERVAL_MS);
  }
  throw new LoteError(
    'data-directory-owned',
    `Purging: another process owns ${common.dataDir} and has not published its addresses within ${patienceMs / 1000} s. Nothing was removed. Try again in a moment.`,
  );
}

/** Null: it has left; what it purged before stays purged, and is not purged twice. */
async function purgeThroughOwner(owner: OwnerApi, { applications, request }: Purging): Promise<Purged | null> {
  try {
    return await inTurn(applications, (one) => owner.purge({ ...request, ...namedInput(one) }));
  } catch (error) {
    if (error instanceof LoteError && error.code === 'owner-leaving' && !owner.owns()) return null;
    throw error;
  }
}

async function purgeLedger({ common, applications, request }: Purging): Promise<Purged> {
  const { databaseUrl, dataDir: directory } = common;
  const ledger = await openLedger({ databaseUrl, directory: (await openDataDir(directory)).ledger });
  try {
    if (databaseUrl !== null) await requireClock(ledger, CLOCK_USE);
    return await inTurn(applications, async (config) => {
      const folders = createCommonFolders({ config, ledger });
      return purgeBatches({ ledger, place: config, folders }, { ...request, now: Date.now() });
    });
  } finally {
    await ledger.close();
  }
}

/** One application after the other: each purge is one transaction. */
async function inTurn(applications: readonly Config[], purge: (config: Config) => Promise<Purged>): Promise<Purged> {
  let all: Purged = { batches: [], contents: 0, bodies: 0, findings: 0, deliveries: 0, others: [], staying: [] };
  for (const config of applications) {
    // oxlint-disable-next-line no-await-in-loop
    const one = await purge(config);
    all = {
      batches: [...all.batches, ...one.batches],
      contents: all.contents + one.contents,
      bodies: all.bodies + one.bodies,
      findings: all.findings + one.findings,
      deliveries: all.deliveries + one.deliveries,
      others: one.others,
      staying: [...all.staying, ...one.staying],
    };
  }
  const purged = new Set(applications.map(({ application }) => application));
  return { ...all, others: all.others.filter((name) => !purged.has(name)) };
}

function textOf(purged: Purged, dryRun: boolean): string {
  const { batches, contents, bodies, findings, deliveries, others, staying } = purged;
  const ofOthers =
    others.length === 0
      ? []
      : [
          `Batches of that age stay, of other applications of this ledger: ${others.join(', ')}. Purge them with their own configuration; for one whose file was removed, put it back first (docs/applications.md).`,
        ];
  const left = [...stayingText(staying), ...ofOthers];
  if (batches.length + contents + bodies + findings + deliveries === 0)
    return ['Nothing to purge.', ...left, ''].join('\n');
  return [
    `${dryRun ? 'Would purge' : 'Purged'} ${batches.length} batches:`,
    `  contents of invoices   ${contents}`,
    `  bodies of requests     ${bodies}`,
    `  findings               ${findings}`,
    `  raw deliveries         ${deliveries}`,
    `  copies of files        ${batches.length}`,
    'Keys, fingerprints, states and reports stay. Dropped files under the input directory are yours to remove.',
    ...left,
    ...(dryRun ? ['Nothing was removed. Give the command without --dry-run to purge.'] : []),
    '',
  ].join('\n');
}

function stayingText(staying: Purged['staying']): readonly string[] {
  if (staying.length === 0) return [];
  const shown = staying.slice(0, MOST_SHOWN).map(({ batchId, state, invoices }) => {
    const open = invoices === 0 ? '' : `, ${invoices} invoices not at their end`;
    return `  ${batchId} (${state}${open})`;
  });
  return [
    `Batches of that age stay as they are (${staying.length}), because they have not ended, or invoices of them may still go:`,
    ...shown,
    ...(staying.length > MOST_SHOWN ? [`  and ${staying.length - MOST_SHOWN} more (--json names all)`] : []),
    'Their reports say what to do: a retry, a reconciliation or a corrected file ends such invoices; a batch that is paused is resumed or cancelled in the console.',
  ];
}

function ageOf(text: string): number {
  const value = /^\d+(\.\d+)?\s*[a-z]+$/iu.test(text) ? ms(text as ms.StringValue) : Number.NaN;
  if (Number.isFinite(value) && value >= SHORTEST_PURGE_AGE_MS) return Math.round(value);
  throw new LoteError(
    'usage',
    `Purging: --older-than must be a duration of at least a day, with its unit, such as 400d, found ${JSON.stringify(text)}.`,
  );
}
