import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { folderTrouble } from '../platform/folders.ts';

/** The stream collects pieces to about this many bytes per write, because each smaller write would cost a system call. */
const WRITE_SIZE = 256 * 1024;

/** Reports hold names and tax numbers, so only the account and its group may read them. */
export const REPORT_FILE_MODE = 0o640;

/** Mode of a report's folder: the account writes, its group reads, and other accounts have no access. */
export const REPORT_DIRECTORY_MODE = 0o750;

/** Writes a new file and resolves when the disk has it. */
export async function writeSynced(path: string, pieces: AsyncIterable<string | Uint8Array>): Promise<void> {
  // Opened before the first piece: if a piece fails, the file is there already, so that the caller can remove it.
  const file = await open(path, 'wx', REPORT_FILE_MODE);
  await pipeline(pieces, file.createWriteStream({ flush: true, highWaterMark: WRITE_SIZE }));
}

/** Runs `write` in the reports folder; its errors have their own code, so that the caller waits. @throws LoteError `folder-unusable` */
export async function inReportsFolder<T>(reportsDir: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    throw folderTrouble(error, { title: 'reports folder', path: reportsDir, variable: 'LOTE_REPORTS_DIR' });
  }
}
