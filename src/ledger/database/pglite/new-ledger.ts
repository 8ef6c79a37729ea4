import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { LoteError } from '../../../domain/errors.ts';
import { takeLedgerId } from '../ledger-id.ts';
import { migrate, schemaFingerprint } from '../migrations/migrate.ts';
import { openPgliteDatabase } from './open-pglite-database.ts';
import { copyTree, syncPath, syncTree } from './durable-tree.ts';

const OWNER_ONLY = 0o700;
/** What a system says when a directory is to be put in the place of one that is not empty. */
const FULL_FOLDER = new Set(['ENOTEMPTY', 'EEXIST']);

/**
 * Makes the embedded ledger of `directory` unless there is one: a copy of one that was made once for this user, this version of PGlite and this schema, kept in
 * `templates`. To make one takes eleven seconds of computing and 700 MB, which a process gives back only at its end; to copy one takes a fraction of a second.
 *
 * The directory appears under its name whole and on the disk, or not at all. Where `templates` cannot be written, the ledger is made in place.
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
  if (template === null) await initialize(making);
  else copyTree(template, making);
  await rename(making, directory);
  syncPath(dirname(directory));
}

/** What is not whole yet. */
function newName(directory: string): string {
  return `${directory}.new`;
}

/** The directory of the template, made when it is missing. Null: the folder of templates cannot be written. */
async function findTemplate(templates: string): Promise<string | null> {
  const template = join(templates, `pglite-${await pgliteVersion()}-${schemaFingerprint()}`);
  if (existsSync(template)) return template;
  const making = `${template}.${randomUUID()}`;
  try {
    await mkdir(templates, { recursive: true, mode: OWNER_ONLY });
    await initialize(making);
    await rename(making, template);
  } catch {
    await rm(making, { recursive: true, force: true }).catch(() => undefined);
  }
  // Another process may have been faster.
  return existsSync(template) ? template : null;
}

/** In a thread that ends: its memory is given back. */
async function initialize(directory: string): Promise<void> {
  const database = await openPgliteDatabase(directory);
  try {
    await migrate(database, null);
    await takeLedgerId(database);
  } finally {
    await database.close();
  }
  // The files of a new cluster were written by another program, without any sync.
  syncTree(directory);
}

async function pgliteVersion(): Promise<string> {
  const entry = createRequire(import.meta.url).resolve('@electric-sql/pglite');
  const { version } = JSON.parse(await readFile(join(dirname(entry), '..', 'package.json'), 'utf8')) as {
    version: string;
  };
  return version;
}
