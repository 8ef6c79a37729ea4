import { constants } from 'node:fs';
import { access, realpath, stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { commandLine, type CommandReader } from '../../domain/text/command-line.ts';
import { LoteError } from '../../domain/errors.ts';
import type { FolderRole } from '../../domain/ports/ledger/shared-folder-ledger.ts';
import { errorCode } from '../../file-system/error-code.ts';
import type { Config } from '../../runtime/config/config.ts';
import { createCommonFolders } from '../folders/common-folders.ts';
import { fine, trouble, type Check } from './check.ts';
import type { ReadOnlyLedger } from './read-only-ledger.ts';

/** A night of 100,000 invoices writes about as much in reports. */
const LEAST_FREE_MB = 500;
const BYTES_PER_MB = 1_048_576;

interface Folder {
  readonly name: string;
  readonly path: string;
  readonly variable: string;
  /** Left out: no role in the ledger. */
  readonly role?: FolderRole;
}

const WHY: Readonly<Record<string, string>> = {
  EROFS: 'is on a read-only file system',
  EACCES: 'may not be written by this account',
  EPERM: 'may not be written by this account',
  ENOTDIR: 'has a file where a folder must be',
};

/** Whether Lote can work where it keeps what all applications have in common. */
export async function checkDataDirectory(path: string, reader: CommandReader): Promise<readonly Check[]> {
  const folder = { name: 'data directory', path, variable: 'LOTE_DATA_DIR' };
  const written = await writable(folder);
  return written.state === 'ok' ? [written, await room(folder, reader)] : [written];
}

/**
 * Whether Lote can work in the folders of an application. Nothing is written: a folder that is missing is made by the
 * first start.
 */
export async function checkFolders(config: Config, ledger: ReadOnlyLedger | null): Promise<readonly Check[]> {
  const input = config.isOneOfSeveral ? '"inputDir" of its file' : 'LOTE_INPUT_DIR';
  const folders: readonly Folder[] = [
    { name: 'input folder', path: config.inputDir, variable: input, role: 'input' },
    { name: 'reports folder', path: config.reportsDir, variable: 'LOTE_REPORTS_DIR', role: 'reports' },
  ];
  const common = ledger === null ? null : createCommonFolders({ config, ledger });
  const found = await Promise.all(
    folders.map(async (folder) => {
      const written = await writable(folder);
      if (written.state !== 'ok') return [written];
      const lost =
        folder.role === undefined ? null : await lostMount(folder, () => common?.require(folder.role ?? 'input'));
      return [lost ?? written, await room(folder, config)];
    }),
  );
  return [...found.flat(), ...(await sameFolder(config))];
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

/** The folder, or the nearest one above it that is there. */
async function existing(path: string): Promise<string> {
  try {
    await stat(path);
    return path;
  } catch (error) {
    if (errorCode(error) !== 'ENOENT' || dirname(path) === path) throw error;
    return existing(dirname(path));
  }
}

/** A mount that is gone leaves an empty folder, which can be written. */
async function lostMount({ name, variable }: Folder, require: () => Promise<void> | undefined): Promise<Check | null> {
  try {
    await require();
    return null;
  } catch (error) {
    if (!(error instanceof LoteError)) throw error;
    return trouble(name, error.message, `Mount the folder that all processes share, or correct ${variable}.`);
  }
}

async function room({ name, path, variable }: Folder, reader: CommandReader): Promise<Check> {
  const { bavail, bsize } = await statfs(await existing(path));
  const free = Math.floor((bavail * bsize) / BYTES_PER_MB);
  const found = `${free} MB are free for the ${name}`;
  return free >= LEAST_FREE_MB
    ? fine(`${name}: disk`, found)
    : trouble(
        `${name}: disk`,
        `${found}; Lote wants ${LEAST_FREE_MB} MB.`,
        `Make room on its disk (${commandLine(reader, 'purge --older-than 400d')}, older reports), or set ${variable} to a folder on a larger one.`,
      );
}

/** Reports in the input folder would be taken for files of invoices. */
async function sameFolder({ inputDir, reportsDir }: Config): Promise<readonly Check[]> {
  const [input, reports] = await Promise.all([inputDir, reportsDir].map((path) => realpath(path).catch(() => path)));
  if (input !== reports) return [];
  return [
    trouble(
      'folders',
      `LOTE_INPUT_DIR and LOTE_REPORTS_DIR are the same folder: ${input}.`,
      'Set LOTE_REPORTS_DIR to another folder: nightly runs would take what lies there for dropped files.',
    ),
  ];
}
