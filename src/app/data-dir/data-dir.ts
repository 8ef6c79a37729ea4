import { access, chmod, constants, mkdir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { LoteError } from '../../domain/errors.ts';
import { errorCode } from '../../platform/error-code.ts';

/** The data directory contains names and tax numbers, so no other account of the machine may read it. */
const OWNER_ONLY = 0o700;
const OTHERS = 0o077;
const STICKY = 0o1000;

/** Paths inside a data directory. An opened one has its real path, so that two names of one directory are equal. */
export type DataDir = Readonly<ReturnType<typeof dataDirAt>>;

/**
 * Creates the data directory if it is missing, and removes other accounts' access if it exists.
 * @throws LoteError `configuration-invalid` when the directory cannot be made or written.
 */
export async function openDataDir(directory: string): Promise<DataDir> {
  try {
    await mkdir(directory, { recursive: true, mode: OWNER_ONLY });
    await access(directory, constants.R_OK | constants.W_OK | constants.X_OK);
    const path = await realpath(directory);
    await tighten(path);
    return dataDirAt(path);
  } catch (cause) {
    const code = errorCode(cause) || 'unusable';
    throw new LoteError(
      'configuration-invalid',
      `Opening the data directory: LOTE_DATA_DIR must be a directory that can be made and written; found ${directory} (${code}).`,
      { cause },
    );
  }
}

/** Keeps the mode of a directory that belongs to another account or that all accounts share (`/tmp`). */
async function tighten(path: string): Promise<void> {
  const { mode, uid } = await stat(path);
  const shared = (mode & STICKY) !== 0;
  if ((mode & OTHERS) === 0 || shared || uid !== process.getuid?.()) return;
  await chmod(path, OWNER_ONLY);
}

/** Returns the paths of a data directory without accessing it. */
export function dataDirAt(path: string) {
  const at = (name: string): string => join(path, name);
  return { path, ledger: at('ledger'), sandbox: at('sandbox'), endpoints: at('endpoints.json') };
}
