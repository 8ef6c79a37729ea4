import { randomUUID } from 'node:crypto';
import { access, copyFile, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { folderTrouble } from '../../platform/folders.ts';
import { hashFile } from '../../ingest/file-chunks.ts';

/** Before what is unique in the name of a copy that is being made. */
const UNFINISHED = '.part-';

/** The folder of all kept files; each is named by the hash of its bytes. */
export function keptFiles(dataDir: string): string {
  return join(dataDir, 'files');
}

/** Where the bytes of a batch's file are kept, so that its corrections can be written in its own words later. */
export function keptFile(dataDir: string, sha256: string): string {
  return join(keptFiles(dataDir), sha256);
}

/** The path of a kept file that is there; null: there is none. */
export async function findKeptFile(dataDir: string, sha256: string): Promise<string | null> {
  const path = keptFile(dataDir, sha256);
  const isMissing = await access(path).catch(() => true);
  return isMissing === true ? null : path;
}

/** Whether a file among the kept ones is a copy that its process has not finished. */
export function isUnfinishedCopy(name: string): boolean {
  return name.startsWith(UNFINISHED);
}

/**
 * Copies a file to the kept ones; returns the path of the copy.
 * @throws LoteError `folder-unusable` when the folder of the kept files cannot be written
 */
export async function keepCopy(path: string, dataDir: string): Promise<string> {
  const directory = keptFiles(dataDir);
  const part = join(directory, `${UNFINISHED}${randomUUID()}`);
  try {
    await mkdir(directory, { recursive: true });
    await copyFile(path, part);
    const kept = keptFile(dataDir, await hashFile(part));
    await rename(part, kept);
    return kept;
  } catch (error) {
    throw folderTrouble(error, { title: 'folder of the kept files', path: directory, variable: 'LOTE_DATA_DIR' });
  } finally {
    await rm(part, { force: true }).catch(() => undefined);
  }
}
