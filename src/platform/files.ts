import { randomUUID } from 'node:crypto';
import { constants, copyFile, link, open, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { errorCode } from './error-code.ts';

/** What is made once per user and is right for every checkout: the Temporal server, workflow bundles, an empty ledger. */
export function cacheDirectory(env: NodeJS.ProcessEnv): string {
  return join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'lote');
}

/** Takes a line for the person who waits. */
export type Notify = (line: string) => void;

/** Renames what Lote cannot use, so that it is made anew. */
export async function putAside(path: string, notify: Notify): Promise<void> {
  const aside = `${path}.unusable-${new Date().toISOString().replaceAll(/[:.]/gu, '-')}`;
  await rename(path, aside);
  notify(`Lote cannot use ${path}: it is now ${aside}, and a new one is made.`);
}

/** Returns when the disk has a file, or the names in a folder: a rename lasts only when its folder was written too. */
export async function syncPath(path: string): Promise<void> {
  // Windows syncs neither when it is open for reading; its renames are journalled.
  if (process.platform === 'win32') return;
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Replaces a file: its readers see it whole or not at all, also after a power cut. @throws the error of the operating system */
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
 * Moves a file by one rename, which takes the place of a file that is there. To another file system (the folder may be a
 * link or a mount), the file is copied: it arrives whole and synced before it leaves. After a crash in between it is in
 * both places, and the same move ends it.
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

/** What file systems without hard links say. */
const WITHOUT_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/**
 * Writes a file where none is: it appears whole or not at all, because a link to what is written fails where the name is
 * taken. Without hard links it is an exclusive copy. Returns false when the name was taken.
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
    throw error;
  } finally {
    await rm(part, { force: true }).catch(() => undefined);
  }
}
