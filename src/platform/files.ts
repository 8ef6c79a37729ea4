import { randomUUID } from 'node:crypto';
import { constants, copyFile, link, open, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { errorCode } from './error-code.ts';

/** Returns the folder of files that Lote makes once per user for all checkouts: the Temporal server, workflow bundles, an empty ledger. */
export function cacheDirectory(env: NodeJS.ProcessEnv): string {
  return join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'lote');
}

/** Shows a line to the person who waits. */
export type Notify = (line: string) => void;

/** Renames a file or folder that Lote cannot use, so that Lote makes a new one. */
export async function putAside(path: string, notify: Notify): Promise<void> {
  const aside = `${path}.unusable-${new Date().toISOString().replaceAll(/[:.]/gu, '-')}`;
  await rename(path, aside);
  notify(`Lote cannot use ${path}: it is now ${aside}, and a new one is made.`);
}

/** Syncs a file, or the names in a folder, to the disk. A rename lasts only after its folder is synced too. */
export async function syncPath(path: string): Promise<void> {
  // Windows cannot sync a file or folder that is open for reading; it journals renames.
  if (process.platform === 'win32') return;
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Replaces a file. Readers see the new text whole or not at all, also after a power cut. @throws the error of the operating system */
export async function replaceFile(path: string, text: string, mode: number): Promise<void> {
  const part = `${path}.${randomUUID()}.part`;
  try {
    await writeFile(part, text, { flag: 'wx', mode, flush: true });
    await rename(part, path);
  } finally {
    await rm(part, { force: true });
  }
  await syncPath(dirname(path));
}

/**
 * Moves a file with one rename, which replaces an existing file. To another file system (the folder may be a link or a
 * mount), Lote copies and syncs the file before it removes the source. After a crash in between, the file is in both
 * places, and the same move completes the work.
 * @throws the error of the operating system
 */
export async function moveFile(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (errorCode(error) !== 'EXDEV') throw error;
    await copyOver(from, to);
    await rm(from, { force: true });
  }
}

async function copyOver(from: string, to: string): Promise<void> {
  const draft = join(dirname(to), `.${randomUUID()}.part`);
  try {
    await copyFile(from, draft);
    await syncPath(draft);
    await rename(draft, to);
  } finally {
    await rm(draft, { force: true });
  }
  await syncPath(dirname(to));
}

/** Error codes of file systems without hard links. */
const WITHOUT_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/**
 * Writes a new file, whole or not at all: Lote links a finished draft to the name, and the link fails if the name is
 * taken. Without hard links, Lote makes an exclusive copy. Returns false if the name is taken.
 * @throws the error of the operating system
 */
export async function writeNewFile(path: string, text: string, mode: number): Promise<boolean> {
  const part = join(dirname(path), `.${randomUUID()}.part`);
  try {
    await writeFile(part, text, { flag: 'wx', mode, flush: true });
    await link(part, path).catch(async (error: unknown) => {
      if (!WITHOUT_LINKS.has(errorCode(error))) throw error;
      await copyFile(part, path, constants.COPYFILE_EXCL);
    });
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    // Node names no file when the disk is full.
    if (error instanceof Error && !('path' in error)) Object.assign(error, { path: part });
    throw error;
  } finally {
    await rm(part, { force: true }).catch(() => undefined);
  }
}
