import { rm, mkdir, readFile, rename } from 'node:fs/promises';
import { measuredDatabase } from '../database/database.ts';
import { type Ledger, openLedger } from './ledger.ts';
import { openPgliteDatabase } from '../database/open-pglite-database.ts';
import type { MeasureStatement } from '../domain/records/measures.ts';
import { randomUUID } from 'node:crypto';
import { closeSync, cpSync, existsSync, fsyncSync, openSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { LoteError } from '../domain/errors.ts';
import { migrate, schemaFingerprint } from './migrate.ts';

export interface PgliteLedgerOptions {
  /** Created if it is missing. The caller must hold the lock on it: PGlite has none, and two processes would both write and silently lose data. */
  readonly directory: string;
  /** This user's folder of templates for new ledgers; created if it is missing. */
  readonly templates: string;
  readonly measure?: MeasureStatement | undefined;
}

/** Opens the embedded ledger. @throws LoteError `ledger-unavailable` when the database does not start, or a new one cannot be made. */
export async function openPgliteLedger({ directory, templates, measure }: PgliteLedgerOptions): Promise<Ledger> {
  await makeLedger(directory, templates);
  return openLedger(measuredDatabase(await openPgliteDatabase(directory), measure));
}

/** Error codes of a rename onto a directory that is not empty. */
const FULL_FOLDER = new Set(['ENOTEMPTY', 'EEXIST']);

/**
 * Makes the embedded ledger of `directory` if it is missing, as a copy of the template in `templates`, which takes a fraction of a second. The
 * directory appears complete and on the disk, or not at all. If `templates` is not writable, it makes the ledger in place.
 * @throws LoteError `ledger-unavailable` when it cannot be made.
 */
export async function makeLedger(directory: string, templates: string): Promise<void> {
  if (existsSync(join(directory, 'PG_VERSION'))) return;
  try {
    await copyInto(directory, templates);
  } catch (error) {
    await rm(newName(directory), { recursive: true, force: true }).catch(() => undefined);
    if (error instanceof LoteError) throw error;
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    const rule = FULL_FOLDER.has(code)
      ? 'it must be empty or hold a ledger, and it holds other files. Move them away, or set another LOTE_DATA_DIR'
      : `its folder must be writable, with 40 MB of space (${code})`;
    throw new LoteError('ledger-unavailable', `Making the embedded ledger at ${directory}: ${rule}`, { cause: error });
  }
}

async function copyInto(directory: string, templates: string): Promise<void> {
  const making = newName(directory);
  await mkdir(dirname(directory), { recursive: true });
  await rm(making, { recursive: true, force: true });
  const template = await findTemplate(templates);
  if (template === null) await initializeLedger(making);
  else {
    // Copies all files before it syncs any: a disk that syncs after each file takes three times as long.
    cpSync(template, making, { recursive: true });
    syncTree(making);
  }
  await rename(making, directory);
  syncPath(dirname(directory));
}

function newName(directory: string): string {
  return `${directory}.new`;
}

const OWNER_ONLY = 0o700;

/**
 * Returns the directory of an empty ledger of this PGlite version and schema, or null if the folder of templates is not writable. To make one takes
 * seconds, so `npm ci` does so before the first start.
 */
export async function findTemplate(templates: string): Promise<string | null> {
  const template = await templatePath(templates);
  if (existsSync(template)) return template;
  const making = `${template}.${randomUUID()}`;
  try {
    await mkdir(templates, { recursive: true, mode: OWNER_ONLY });
    await initializeLedger(making);
    await rename(making, template);
  } catch {
    await rm(making, { recursive: true, force: true }).catch(() => undefined);
  }
  // Another process may have been faster.
  return existsSync(template) ? template : null;
}

async function templatePath(templates: string): Promise<string> {
  return join(templates, `pglite-${await pgliteVersion()}-${schemaFingerprint()}`);
}

async function pgliteVersion(): Promise<string> {
  const entry = createRequire(import.meta.url).resolve('@electric-sql/pglite');
  const { version } = JSON.parse(await readFile(join(dirname(entry), '..', 'package.json'), 'utf8')) as {
    version: string;
  };
  return version;
}

/** Makes a new embedded ledger in `directory`, which is on the disk when the promise resolves. @throws LoteError `ledger-unavailable` */
async function initializeLedger(directory: string): Promise<void> {
  const database = await openPgliteDatabase(directory);
  try {
    await migrate(database, null);
  } finally {
    await database.close();
  }
  // Another program wrote the files of the new cluster, and did not sync them.
  syncTree(directory);
}

function syncTree(directory: string): void {
  for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' })) syncPath(join(directory, name));
  syncPath(directory);
}

function syncPath(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
