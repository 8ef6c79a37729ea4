import { randomUUID } from 'node:crypto';
import { constants, copyFile, link, open, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorCode } from './error-code.ts';

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
    const file = await open(part, 'wx', mode);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
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
