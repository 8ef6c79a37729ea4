import { readdir } from 'node:fs/promises';

/** Names in a folder; none where it is not there. Any other error is thrown. */
export async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** Whether an error of the system says that a file or folder is not there (`ENOENT`). The console reads through ports, so it has its own. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
