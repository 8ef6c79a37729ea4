import { open } from 'node:fs/promises';

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
