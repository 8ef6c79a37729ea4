import { rm } from 'node:fs/promises';
import ms from 'ms';
import { LoteError } from '../domain/errors.ts';
import type { Purged } from '../domain/ports/purge-ledger.ts';
import { readConfig } from '../runtime/config.ts';
import { openDataDir } from '../runtime/data-dir.ts';
import { acquireDirectoryLock } from '../runtime/directory-lock.ts';
import { keptFile } from '../wiring/input-files.ts';
import { openLedger } from '../wiring/open-ledger.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';

/** A slip of the unit (400m for 400d) must not empty the ledger. */
const SHORTEST_MS = 24 * 60 * 60 * 1000;

export interface PurgeCommand {
  readonly olderThan: string;
  readonly dryRun: boolean;
  readonly json: boolean;
  readonly env: NodeJS.ProcessEnv;
}

/** `lote purge --older-than 400d`. */
export async function purgeCommand({ olderThan, dryRun, json, env }: PurgeCommand): Promise<ExitCode> {
  const age = ageOf(olderThan);
  const config = readConfig(env);
  const dataDir = await openDataDir(config.dataDir);
  const lock = await acquireDirectoryLock(dataDir.path);
  if (lock === null) {
    throw new LoteError(
      'data-directory-owned',
      `Purging: nobody else may have ${config.dataDir} open, but another process owns it. Stop it (Ctrl-C in its terminal), then purge again.`,
    );
  }
  try {
    const ledger = await openLedger({ databaseUrl: config.databaseUrl, directory: dataDir.ledger });
    try {
      const now = Date.now();
      const request = { before: now - age, now };
      const found = await ledger.purge({ ...request, dryRun: true });
      if (!dryRun) {
        // The copies of the files first: after the ledger has forgotten the batches, nobody would look for them.
        for (const { sha256 } of found.batches) await rm(keptFile(config.dataDir, sha256), { force: true });
        await ledger.purge({ ...request, dryRun: false });
      }
      process.stdout.write(json ? `${JSON.stringify({ dryRun, purged: found })}\n` : textOf(found, dryRun));
      return EXIT.ok;
    } finally {
      await ledger.close();
    }
  } finally {
    await lock.release();
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
  if (Number.isFinite(value) && value >= SHORTEST_MS) return value;
  throw new LoteError(
    'usage',
    `Purging: --older-than must be a duration of at least a day, with its unit, such as 400d, found ${JSON.stringify(text)}.`,
  );
}
