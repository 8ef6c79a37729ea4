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
    if (error instanceof LoteError) throw error;
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    throw new LoteError(
      'ledger-unavailable',
      `Making the embedded ledger at ${directory}: its folder must be writable, with 40 MB of space (${code})`,
      { cause: error },
    );
  }
}

async function copyInto(directory: string, templates: string): Promise<void> {
  const making = `${directory}.new`;
  await mkdir(dirname(directory), { recursive: true });
  await rm(making, { recursive: true, force: true });
  const template = await findTemplate(templates);
  if (template === null) await initialize(making);
  else copyTree(template, making);
  await rename(making, directory);
  syncPath(dirname(directory));
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
