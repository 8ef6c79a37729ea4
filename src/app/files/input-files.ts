import { existsSync } from 'node:fs';
import { mkdir, realpath, stat } from 'node:fs/promises';
import { basename, isAbsolute, join, relative, resolve, sep } from 'node:path';
import type { FileReader } from '../../../activities/deps.ts';
import { LoteError } from '../../domain/errors.ts';
import { bufferedRowStore } from '../../ingest/row-stores.ts';
import { fileChunks, hashFile } from '../../ingest/file-chunks.ts';
import type { Conversion, IngestResult } from '../../ingest/ingest-result.ts';
import { toInvoices } from '../../ingest/invoice/to-invoice.ts';
import { folderTrouble } from '../../platform/folders.ts';
import { errorCode } from '../../platform/error-code.ts';
import type { Config } from '../config/config.ts';
import { findKeptFile, keepCopy, placeFile } from './kept-files.ts';
import { readOtherwise, readWithProfile } from './read-with-profile.ts';

/** Errors of a disk. A stream into the folder may also fail with an error of its source. */
const OF_A_DISK = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EPERM', 'EIO', 'ENOTDIR']);

/** Reads files of the input directory from a copy that no other process changes. `buffersRows`: see `TestedParts`. */
export function createFileReader(
  { inputDir, dataDir }: Pick<Config, 'inputDir' | 'dataDir'>,
  buffersRows = true,
): FileReader<Conversion> {
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
      const path = findKeptFile(dataDir, sha256) ?? (await resolveInput(inputDir, file).catch(() => null));
      return readOtherwise(path, { file, inputDir, options }, proof);
    },
  };
}

/**
 * Returns the real path of a file in the input directory. Refuses a name that leads out of it by `..` or a link.
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

/**
 * Resolves the files that a person names at a prompt: first as the shell sees the path, then as a name in the input
 * directory, as in the Temporal UI and the console. An unknown name is returned unchanged, and opening it reports the error.
 */
export function namedFiles(inputDir: string, names: readonly string[]): Promise<readonly string[]> {
  const named = async (name: string): Promise<string> =>
    isAbsolute(name) || existsSync(name) ? name : resolveInput(inputDir, name).catch(() => name);
  return Promise.all(names.map(named));
}

/** No person waits at a prompt now, so a wrong profile or declaration becomes a report, and nothing is sent. */
function refusedByProfile(error: unknown, copy: string): IngestResult {
  if (!(error instanceof LoteError) || error.code !== 'usage') throw error;
  return {
    ok: false,
    refused: true,
    sha256: basename(copy),
    rows: 0,
    findings: [{ row: null, column: null, code: 'declaration-wrong', message: error.message, severity: 'error' }],
    proof: {},
  };
}

/**
 * Copies a file into `incoming/` of the input directory, or leaves a file that is in the input directory where it is.
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
  return placeInput(root, basename(path), fileChunks(path, over));
}

/**
 * Streams a file to `incoming/<first 8 of its hash>/<name>` of the input directory, so that two files of one name do not
 * overwrite each other. Returns its name relative to the input directory.
 * @throws LoteError `input-unusable` when the folder cannot take it
 */
export async function placeInput(inputDir: string, name: string, content: AsyncIterable<Uint8Array>): Promise<string> {
  const nameOf = (sha256: string): string => join(sha256.slice(0, 8), name);
  try {
    return relative(inputDir, await placeFile({ folder: join(inputDir, 'incoming'), content, nameOf }));
  } catch (error) {
    if (!OF_A_DISK.has(errorCode(error))) throw error;
    const folder = { title: 'input folder', path: inputDir, variable: 'LOTE_INPUT_DIR' };
    const next = '. Nothing was sent: put it right and start again.';
    throw folderTrouble(error, folder, { code: 'input-unusable', next });
  }
}

function unreadable(file: string, found: string): LoteError {
  return new LoteError(
    'file-unreadable',
    `Opening the input file ${JSON.stringify(file)}: it must be a readable file of the input directory, but ${found}. Check the name and start again.`,
  );
}
