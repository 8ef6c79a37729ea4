import { constants } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { LoteError } from '../../domain/errors.ts';
import { errorCode } from '../../platform/error-code.ts';
import { createCommonFolders } from '../../app/folders/common-folders.ts';
import { fine, trouble, type Check } from './check.ts';
import type { Examination } from './check-ledger.ts';
import type { FolderRole } from '../../ledger/operations/shared-folders.ts';

/** A night of 100,000 invoices writes about as much in reports. */
const LEAST_FREE_MB = 500;
const BYTES_PER_MB = 1_048_576;

interface Folder {
  readonly name: string;
  readonly path: string;
  readonly variable: string;
}

const WHY: Readonly<Record<string, string>> = {
  EROFS: 'is on a read-only file system',
  EACCES: 'may not be written by this account',
  EPERM: 'may not be written by this account',
  ENOTDIR: 'has a file where a folder must be',
};

/** Checks whether Lote can work in its data directory. */
export async function checkDataDirectory({ config }: Examination): Promise<readonly Check[]> {
  const folder = { name: 'data directory', path: config.dataDir, variable: 'LOTE_DATA_DIR' };
  const written = await writable(folder);
  return written.state === 'ok' ? [written, await room(folder)] : [written];
}

/** Checks whether Lote can work in its other folders. Writes nothing: the first start makes a missing folder. */
export async function checkFolders({ config, ledger }: Examination): Promise<readonly Check[]> {
  const folders: readonly (Folder & { readonly role: FolderRole })[] = [
    { name: 'input folder', path: config.inputDir, variable: 'LOTE_INPUT_DIR', role: 'input' },
    { name: 'reports folder', path: config.reportsDir, variable: 'LOTE_REPORTS_DIR', role: 'reports' },
  ];
  const common = ledger === null ? null : createCommonFolders({ config, ledger });
  const found = folders.map(async (folder) => {
    const written = await writable(folder);
    if (written.state !== 'ok') return [written];
    return [(await lostMount(folder, async () => common?.require(folder.role))) ?? written, await room(folder)];
  });
  return (await Promise.all(found)).flat();
}

async function writable(folder: Folder): Promise<Check> {
  const { name, path, variable } = folder;
  try {
    const place = await existing(path);
    if (!(await stat(place)).isDirectory()) return inTrouble(folder, 'ENOTDIR');
    await access(place, constants.R_OK | constants.W_OK | constants.X_OK);
    return fine(name, place === path ? `${path} can be written` : `${path} is made by the first start (${variable})`);
  } catch (error) {
    return inTrouble(folder, errorCode(error));
  }
}

function inTrouble({ name, path, variable }: Folder, code: string): Check {
  const why = WHY[code] ?? `cannot be used (${code})`;
  return trouble(
    name,
    `${path} ${why}.`,
    `Mount it so that it can be written, give this account the right to write there, or set ${variable} to another folder.`,
  );
}

/** Returns the folder, or the nearest existing folder above it. */
async function existing(path: string): Promise<string> {
  try {
    await stat(path);
    return path;
  } catch (error) {
    if (errorCode(error) !== 'ENOENT' || dirname(path) === path) throw error;
    return existing(dirname(path));
  }
}

/** Detects a lost mount: it leaves an empty folder, which is writable. */
async function lostMount({ name, variable }: Folder, require: () => Promise<void>): Promise<Check | null> {
  try {
    await require();
    return null;
  } catch (error) {
    if (!(error instanceof LoteError)) throw error;
    return trouble(name, error.message, `Mount the folder that all processes share, or correct ${variable}.`);
  }
}

async function room({ name, path, variable }: Folder): Promise<Check> {
  const { bavail, bsize } = await statfs(await existing(path));
  const free = Math.floor((bavail * bsize) / BYTES_PER_MB);
  const found = `${free} MB are free for the ${name}`;
  return free >= LEAST_FREE_MB
    ? fine(`${name}: disk`, found)
    : trouble(
        `${name}: disk`,
        `${found}; Lote wants ${LEAST_FREE_MB} MB.`,
        `Make room on its disk (lote purge --older-than 400d, older reports), or set ${variable} to a folder on a larger one.`,
      );
}
