import { randomUUID } from 'node:crypto';
import { access, copyFile, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { folderTrouble } from '../../platform/folders.ts';
import { hashFile } from '../../ingest/file-chunks.ts';

/** Begins the name of a copy that is not complete; a unique id follows. */
const UNFINISHED = '.part-';

/** Returns the folder of all kept files; each file's name is the hash of its bytes. */
export function keptFiles(dataDir: string): string {
  return join(dataDir, 'files');
}

/** Returns the path for the bytes of a batch's file, which Lote keeps to write corrections in the file's own words. */
export function keptFile(dataDir: string, sha256: string): string {
  return join(keptFiles(dataDir), sha256);
}

/** Returns the path of an existing kept file, or null. */
export async function findKeptFile(dataDir: string, sha256: string): Promise<string | null> {
  const path = keptFile(dataDir, sha256);
  const isMissing = await access(path).catch(() => true);
  return isMissing === true ? null : path;
}

/** Returns true if the name is that of a copy that its process has not finished. */
export function isUnfinishedCopy(name: string): boolean {
  return name.startsWith(UNFINISHED);
}

/**
 * Copies a file into the folder of kept files and returns the path of the copy.
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
