import { readdir } from 'node:fs/promises';

/** The operating system's code of an error, such as `ENOENT`; empty when it has none. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

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
