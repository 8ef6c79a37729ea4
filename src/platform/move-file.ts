import { randomUUID } from 'node:crypto';
import { copyFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorCode } from './error-code.ts';
import { syncPath } from './sync-path.ts';

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
