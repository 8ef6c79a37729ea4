import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { LoteError } from '../../../domain/errors.ts';
import { copyTree, syncPath } from './durable-tree.ts';
import { initializeLedger } from './initialize-ledger.ts';
import { findTemplate } from './ledger-template.ts';

/** What a system says when a directory is to be put in the place of one that is not empty. */
const FULL_FOLDER = new Set(['ENOTEMPTY', 'EEXIST']);

/**
 * Makes the embedded ledger of `directory` unless there is one: a copy of one that was made once for this user, this version of PGlite and this schema, kept in
 * `templates`. To copy one takes a fraction of a second.
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
  if (template === null) await initializeLedger(making);
  else copyTree(template, making);
  await rename(making, directory);
  syncPath(dirname(directory));
}

/** What is not whole yet. */
function newName(directory: string): string {
  return `${directory}.new`;
}
