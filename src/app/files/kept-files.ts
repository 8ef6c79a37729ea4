import { createHash, randomUUID } from 'node:crypto';
import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { folderTrouble, makeFolder, type WrittenFolder } from '../../platform/folders.ts';
import { fileChunks } from '../../ingest/file-chunks.ts';

/** Begins the name of a file that is not complete; a unique id follows. */
const UNFINISHED = '.part-';
/** A younger unfinished file may still be written; an older one was left by a process that has ended. */
const LEFT_AFTER_MS = 60 * 60_000;
/** Files contain names and tax numbers, so only the account and its group may read them. */
const FILE_MODE = 0o640;
const DIRECTORY_MODE = 0o750;

interface PlacedFile {
  readonly folder: string;
  readonly content: AsyncIterable<Uint8Array>;
  /** Returns the path inside the folder for content with this SHA-256. */
  readonly nameOf: (sha256: string) => string;
}

/** Streams content into a folder, where the file appears only when it is complete. Returns its path. */
export async function placeFile({ folder, content, nameOf }: PlacedFile): Promise<string> {
  const part = join(folder, `${UNFINISHED}${randomUUID()}`);
  const hash = createHash('sha256');
  async function* hashed(): AsyncGenerator<Uint8Array> {
    for await (const bytes of content) {
      hash.update(bytes);
      yield bytes;
    }
  }
  try {
    await makeFolder(folder, DIRECTORY_MODE);
    await removeLeftParts(folder);
    // Opened first: a stream that opens the file itself may open it after the cleanup below has removed it.
    const file = await open(part, 'wx', FILE_MODE);
    await pipeline(hashed(), file.createWriteStream());
    const path = join(folder, nameOf(hash.digest('hex')));
    await makeFolder(dirname(path), DIRECTORY_MODE);
    await rename(part, path);
    return path;
  } finally {
    await rm(part, { force: true }).catch(() => undefined);
  }
}

async function removeLeftParts(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith(UNFINISHED)) continue;
    const path = join(folder, name);
    const found = await stat(path).catch(() => null);
    if (found !== null && found.mtimeMs < Date.now() - LEFT_AFTER_MS) await rm(path, { force: true });
  }
}

/** Returns the folder of all kept files; each file's name is the hash of its bytes. */
export function keptFolder(dataDir: string): WrittenFolder {
  return { title: 'folder of the kept files', path: join(dataDir, 'files'), variable: 'LOTE_DATA_DIR' };
}

/** Returns the path for the bytes of a batch's file, which Lote keeps to write corrections in the file's own words. */
export function keptFile(dataDir: string, sha256: string): string {
  return join(keptFolder(dataDir).path, sha256);
}

/** Returns the path of an existing kept file, or null. */
export function findKeptFile(dataDir: string, sha256: string): string | null {
  const path = keptFile(dataDir, sha256);
  return existsSync(path) ? path : null;
}

/**
 * Copies a file into the folder of kept files and returns the path of the copy.
 * @throws LoteError `folder-unusable` when the folder of the kept files cannot be written
 */
export async function keepCopy(path: string, dataDir: string): Promise<string> {
  const folder = keptFolder(dataDir);
  try {
    return await placeFile({ folder: folder.path, content: fileChunks(path), nameOf: (sha256) => sha256 });
  } catch (error) {
    throw folderTrouble(error, folder);
  }
}
