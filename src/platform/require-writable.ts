import { randomUUID } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { folderTrouble, type WrittenFolder } from './folder-trouble.ts';
import { makeFolder } from './make-folder.ts';

/** A disk may take an empty file and not one byte. */
const PROBE_BYTES = 4_096;
/** Reports hold names and tax numbers: a folder that Lote makes for them is for its account and that one's group. */
const DIRECTORY_MODE = 0o750;

/**
 * Proves that a folder can be written, and makes it when it is not there.
 * @throws LoteError `folder-unusable`
 */
export async function requireWritable(folder: WrittenFolder): Promise<void> {
  const probe = join(folder.path, `.lote-probe-${randomUUID()}`);
  try {
    await makeFolder(folder.path, DIRECTORY_MODE);
    const file = await open(probe, 'wx', 0o600);
    try {
      await file.writeFile(Buffer.alloc(PROBE_BYTES));
      await file.sync();
    } finally {
      await file.close();
    }
    await rm(probe);
  } catch (error) {
    await rm(probe, { force: true }).catch(() => undefined);
    throw folderTrouble(error, folder, { next: `. Make it writable, or set ${folder.variable} to another folder.` });
  }
}
