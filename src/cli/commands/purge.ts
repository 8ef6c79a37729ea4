import { setTimeout as sleep } from 'node:timers/promises';
import ms from 'ms';
import { LoteError } from '../../domain/errors.ts';
import { SHORTEST_PURGE_AGE_MS, type Purged } from '../../domain/ports/purge-ledger.ts';
import { readConfig, type Config } from '../../runtime/config/config.ts';
import { openDataDir } from '../../runtime/data-dir/data-dir.ts';
import { acquireDirectoryLock } from '../../runtime/data-dir/directory-lock.ts';
import { createCommonFolders } from '../../wiring/reports/common-folders.ts';
import { openLedger } from '../../wiring/account/open-ledger.ts';
import { findOwner, type OwnerApi } from '../../wiring/operator/owner-api.ts';
import { purgeBatches } from '../../wiring/operator/purge-batches.ts';
import { EXIT, type ExitCode } from '../output/exit-codes.ts';

/** An owner that is just starting or leaving is asked, or its place taken, within this time. */
const OWNER_PATIENCE_MS = 60_000;
const POLL_INTERVAL_MS = 250;

/** Options of `lote purge`: `olderThan` is a duration such as `400d`. */
export interface PurgeCommand {
  readonly olderThan: string;
  readonly dryRun: boolean;
  readonly json: boolean;
  readonly env: NodeJS.ProcessEnv;
  readonly ownerPatienceMs?: number;
}

interface Request {
  readonly olderThanMs: number;
  readonly dryRun: boolean;
}

/** `lote purge --older-than 400d`, also while batches run. */
export async function purgeCommand({ olderThan, json, env, ...given }: PurgeCommand): Promise<ExitCode> {
  const request = { olderThanMs: ageOf(olderThan), dryRun: given.dryRun };
  const config = readConfig(env);
  const purged =
    config.databaseUrl === null
      ? await purgeDataDirectory(config, request, given.ownerPatienceMs ?? OWNER_PATIENCE_MS)
      : await purgeLedger(config, request);
  const { dryRun } = request;
  process.stdout.write(json ? `${JSON.stringify({ dryRun, purged })}\n` : textOf(purged, dryRun));
  return EXIT.ok;
}

/** One process owns the embedded ledger. Without an owner the purge runs here, else the owner does it. */
async function purgeDataDirectory(config: Config, request: Request, patienceMs: number): Promise<Purged> {
  const dataDir = await openDataDir(config.dataDir);
  for (let waited = 0; waited < patienceMs; waited += POLL_INTERVAL_MS) {
    const lock = await acquireDirectoryLock(dataDir.path);
    if (lock !== null) {
      try {
        return await purgeLedger(config, request);
      } finally {
        await lock.release();
      }
    }
    const owner = await findOwner(dataDir);
    const purged = owner === null ? null : await purgeThroughOwner(owner, request);
    if (purged !== null) return purged;
    await sleep(POLL_INTERVAL_MS);
  }
  throw new LoteError(
    'data-directory-owned',
    `Purging: another process owns ${config.dataDir} and has not told its addresses within ${patienceMs / 1000} s. Nothing was removed. Try again in a moment.`,
  );
}

/** Null: it has left. */
async function purgeThroughOwner(owner: OwnerApi, request: Request): Promise<Purged | null> {
  try {
    return await owner.purge(request);
  } catch (error) {
    if (error instanceof LoteError && error.code === 'owner-leaving' && !owner.owns()) return null;
    throw error;
  }
}

async function purgeLedger(config: Config, request: Request): Promise<Purged> {
  const { databaseUrl, dataDir } = config;
  const ledger = await openLedger({ databaseUrl, directory: (await openDataDir(dataDir)).ledger });
  try {
    const folders = createCommonFolders({ config, ledger });
    return await purgeBatches({ ledger, dataDir, folders }, { ...request, now: Date.now() });
  } finally {
    await ledger.close();
  }
}

function textOf({ batches, contents, bodies, findings, deliveries }: Purged, dryRun: boolean): string {
  if (batches.length === 0) return 'No batch is that old: nothing to purge.\n';
  return [
    `${dryRun ? 'Would purge' : 'Purged'} ${batches.length} batches:`,
    `  contents of invoices   ${contents}`,
    `  bodies of requests     ${bodies}`,
    `  findings               ${findings}`,
    `  raw deliveries         ${deliveries}`,
    `  copies of files        ${batches.length}`,
    'Keys, fingerprints, states and reports stay. Dropped files under the input directory are yours to remove.',
    ...(dryRun ? ['Nothing was removed. Without --dry-run it is.'] : []),
    '',
  ].join('\n');
}

function ageOf(text: string): number {
  const value = /^\d+(\.\d+)?\s*[a-z]+$/iu.test(text) ? ms(text as ms.StringValue) : Number.NaN;
  if (Number.isFinite(value) && value >= SHORTEST_PURGE_AGE_MS) return Math.round(value);
  throw new LoteError(
    'usage',
    `Purging: --older-than must be a duration of at least a day, with its unit, such as 400d, found ${JSON.stringify(text)}.`,
  );
}
