import { readdir } from 'node:fs/promises';
import { errorCode } from './error-code.ts';

/** What is found; null where an error of the system (`codes`, e.g. `ENOENT`) says that nothing is there. Any other error is thrown. */
export async function unlessMissing<T>(found: Promise<T>, codes: readonly string[] = ['ENOENT']): Promise<T | null> {
  return found.catch((error: unknown) => {
    if (codes.includes(errorCode(error))) return null;
    throw error;
  });
}

/** What is in a folder, in order; nothing where it is missing, or no folder. */
export async function namesIn(folder: string): Promise<readonly string[]> {
  return ((await unlessMissing(readdir(folder), ['ENOENT', 'ENOTDIR'])) ?? []).toSorted();
}
