import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Brings every file and every name below a directory to the disk. */
export async function syncTree(directory: string): Promise<void> {
  const entries = await readdir(directory, { withFileTypes: true, recursive: true });
  const paths = entries
    .filter((entry) => entry.isFile() || entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name));
  for (const path of [...paths, directory]) await syncPath(path);
}

/** Brings one file to the disk, or the names in one directory. */
export async function syncPath(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
