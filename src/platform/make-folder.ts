import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from './error-code.ts';

/** What the process's own mask makes of it: for folders that other programs write to. */
export const FOLDER_MODE = 0o777;

/**
 * Makes a folder and those above it. Node's recursive `mkdir` says ENOENT where the file system is read-only: the folder that could not be
 * made is then tried alone, for the operating system's own reason.
 * @throws the error of the operating system
 */
export async function makeFolder(path: string, mode: number): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode });
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    await makeParent(path, mode);
    await makeAlone(path, mode);
  }
}

async function makeParent(path: string, mode: number): Promise<void> {
  const parent = dirname(path);
  if (parent !== path) await makeFolder(parent, mode);
}

/** Another process may have made it meanwhile. */
async function makeAlone(path: string, mode: number): Promise<void> {
  await mkdir(path, { mode }).catch((error: unknown) => {
    if (errorCode(error) !== 'EEXIST') throw error;
  });
}
