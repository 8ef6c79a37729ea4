import { randomUUID } from 'node:crypto';
import { link, open, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorCode } from '../../file-system/error-code.ts';

const FILE_MODE = 0o640;

/**
 * Writes a file where none is: it appears whole or not at all, for a link to what is written fails where the name is taken. False: it was taken.
 * @throws what the operating system says
 */
export async function writeNewFile(path: string, text: string): Promise<boolean> {
  const part = join(dirname(path), `.${randomUUID()}.part`);
  try {
    const file = await open(part, 'wx', FILE_MODE);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await link(part, path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(part, { force: true });
  }
}
