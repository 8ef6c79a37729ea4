import { randomUUID } from 'node:crypto';
import { copyFile, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { folderTrouble } from '../../file-system/folder-trouble.ts';
import { hashFile } from '../../ingest/hash-file.ts';

/** Where the bytes of a batch's file are kept, so that its corrections can be written in its own words later. */
export function keptFile(dataDir: string, sha256: string): string {
  return join(keptFiles(dataDir), sha256);
}

/** The folder of all kept files; each is named by the hash of its bytes. */
export function keptFiles(dataDir: string): string {
  return join(dataDir, 'files');
}

/** Between the name of a kept file and what is unique: where a purge sets it aside, until it knows whether somebody has claimed the file meanwhile. */
export const SET_ASIDE = '.purged-';

/** Before what is unique in the name of a copy that is being made. */
const UNFINISHED = '.part-';

/** The path of a kept file that is there, or that a purge has set aside: one that was killed then leaves it so until the next one. Null: there is none. */
export async function findKeptFile(dataDir: string, sha256: string): Promise<string | null> {
  const names = await readdir(keptFiles(dataDir)).catch((): string[] => []);
  const found = names.includes(sha256) ? sha256 : names.find((name) => name.startsWith(sha256 + SET_ASIDE));
  return found === undefined ? null : join(keptFiles(dataDir), found);
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
