import { randomUUID } from 'node:crypto';
import { access, copyFile, mkdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, isAbsolute, join, resolve, sep } from 'node:path';
import type { FileReader } from '../../../activities/deps.ts';
import { LoteError } from '../../domain/errors.ts';
import { bufferedRowStore } from '../../ingest/row-stores.ts';
import { hashFile } from '../../ingest/file-chunks.ts';
import type { Conversion, IngestResult } from '../../ingest/ingest-result.ts';
import { toInvoices } from '../../ingest/invoice/to-invoice.ts';
import { makeFolder, folderTrouble } from '../../platform/folders.ts';
import { errorCode } from '../../platform/error-code.ts';
import { findKeptFile, keepCopy } from './kept-files.ts';
import { readOtherwise, readWithProfile } from './read-with-profile.ts';

/** A stream into the folder also ends with the errors of where it comes from. */
const OF_A_DISK = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EPERM', 'EIO', 'ENOTDIR']);

interface FileReaderOptions {
  readonly inputDir: string;
  readonly dataDir: string;
  /** False: the rows of a small file go to the ledger, too. */
  readonly buffersRows?: boolean;
}

/** Files of the input directory, read from a copy that no other process writes to. */
export function createFileReader({ inputDir, dataDir, buffersRows = true }: FileReaderOptions): FileReader<Conversion> {
  return {
    resolve: (file) => resolveInput(inputDir, file),
    hash: (path) => hashFile(path),
    rows: (ledgerRows) => (buffersRows ? bufferedRowStore(ledgerRows) : ledgerRows),
    async read({ path, store, options, signal }) {
      const copy = await keepCopy(path, dataDir);
      return readWithProfile({ path: copy, file: path, inputDir, store, options, signal }).catch((error: unknown) =>
        refusedByProfile(error, copy),
      );
    },
    toInvoices,
    async readOtherwise({ file, sha256, options, proof }) {
      const path = (await findKeptFile(dataDir, sha256)) ?? (await resolveInput(inputDir, file).catch(() => null));
      return readOtherwise(path, { file, inputDir, options }, proof);
    },
  };
}

/**
 * The real path of a file under the input directory; a name that leads out of it, by `..` or by a link, is refused.
 * @throws LoteError `file-unreadable`
 */
export async function resolveInput(inputDir: string, file: string): Promise<string> {
  const root = await realpath(inputDir).catch(() => resolve(inputDir));
  const path = await realpath(resolve(root, file)).catch(() => null);
  if (path === null) throw unreadable(file, 'there is no such file');
  if (!path.startsWith(root + sep)) throw unreadable(file, 'it leads out of the input directory');
  const found = await stat(path);
  if (!found.isFile()) throw unreadable(file, 'it is not a regular file');
  return path;
}

/** What Node puts in the place of bytes that are no UTF-8: under that name it finds no file. */
const NO_UTF_8 = '\uFFFD';

/**
 * The files that a person names at a prompt: a path as the shell sees it, else a name in the input directory, as the
 * Temporal UI and the console have it. A file that is neither is returned as it was named, and what opens it says so.
 * @throws LoteError `file-unreadable` for a name that is no UTF-8
 */
export function namedFiles(inputDir: string, names: readonly string[]): Promise<readonly string[]> {
  return Promise.all(names.map((name) => namedFile(inputDir, name)));
}

async function namedFile(inputDir: string, name: string): Promise<string> {
  const isThere = await access(name).then(
    () => true,
    () => false,
  );
  const found = isThere || isAbsolute(name) ? name : await resolveInput(inputDir, name).catch(() => name);
  if (isThere || found !== name || !name.includes(NO_UTF_8)) return found;
  throw new LoteError(
    'file-unreadable',
    `Opening the input file ${JSON.stringify(name)}: its name must be UTF-8, and it is not, so that it cannot be opened under it. Rename the file and start again.`,
  );
}

/** No person waits at a prompt any more: a wrong profile or declaration leaves a report that says so, and nothing is sent. */
async function refusedByProfile(error: unknown, copy: string): Promise<IngestResult> {
  if (!(error instanceof LoteError) || error.code !== 'usage') throw error;
  return {
    ok: false,
    refused: true,
    sha256: await hashFile(copy),
    rows: 0,
    findings: [{ row: null, column: null, code: 'declaration-wrong', message: error.message, severity: 'error' }],
    proof: {},
  };
}

/**
 * Brings a file from anywhere into `incoming/` of the input directory; the original stays. A file that is there already stays where it is.
 * Returns its name relative to the input directory.
 * @throws LoteError `file-unreadable`; `input-unusable` where there is no room for the copy; the reason of `over`
 */
export async function bringIn(inputDir: string, file: string, over?: AbortSignal): Promise<string> {
  await mkdir(inputDir, { recursive: true });
  const root = await realpath(inputDir);
  const path = await realpath(file).catch(() => null);
  if (path === null) throw unreadable(basename(file), 'there is no such file');
  if (!(await stat(path)).isFile()) throw unreadable(basename(file), 'it is not a regular file');
  if (path.startsWith(root + sep)) return path.slice(root.length + 1);
  // One folder per content: two files of one name from two places must not overwrite each other.
  const name = join('incoming', (await hashFile(path, over)).slice(0, 8), basename(path));
  const target = join(root, name);
  // A name of its own: containers share process numbers, and one process is asked for the same file twice.
  const part = join(target, '..', `.${randomUUID()}.part`);
  try {
    await makeFolder(join(target, '..'), 0o750);
    await copyFile(path, part);
    await rename(part, target);
  } catch (error) {
    throw notBroughtIn(error, root);
  } finally {
    await rm(part, { force: true }).catch(() => undefined);
  }
  return name;
}

/** What keeps a file from being written into the input folder; an error of something else comes back as it is. */
export function notBroughtIn(error: unknown, inputDir: string): unknown {
  if (!OF_A_DISK.has(errorCode(error))) return error;
  const folder = { title: 'input folder', path: inputDir, variable: 'LOTE_INPUT_DIR' };
  return folderTrouble(error, folder, {
    code: 'input-unusable',
    next: '. Nothing was sent: put it right and start again.',
  });
}

function unreadable(file: string, found: string): LoteError {
  return new LoteError(
    'file-unreadable',
    `Opening the input file ${JSON.stringify(file)}: it must be a readable file of the input directory, but ${found}. Check the name and start again.`,
  );
}
