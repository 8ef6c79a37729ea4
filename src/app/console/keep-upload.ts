import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { notBroughtIn } from '../files/input-files.ts';
import { makeFolder } from '../../platform/folders.ts';
import { LoteError } from '../../domain/errors.ts';

/** A dry run keeps the rows in memory: some 400,000 of them are in a file of this size. Larger ones go into the input directory. */
export const LARGEST_UPLOAD = 100 * 1024 * 1024;
/** Uploads hold names and tax numbers: they are for the account and its group. */
const FILE_MODE = 0o640;
const DIRECTORY_MODE = 0o750;
const PART = /^\.upload-.*\.part$/u;
/** A request of a browser ends within five minutes: what is older was left by a process that ended. */
const PART_LEFT_AFTER_MS = 60 * 60_000;

interface Upload {
  readonly inputDir: string;
  /** A plain base name. */
  readonly name: string;
  readonly content: AsyncIterable<Uint8Array>;
  readonly limit?: number;
}

/**
 * Streams a file to `incoming/<first 8 of its hash>/<name>` of the input directory; it appears there whole or not at all. Its name relative
 * to the input directory.
 * @throws LoteError `usage` when it is larger than the limit, `input-unusable` when the folder cannot take it
 */
export async function keepUpload({ inputDir, name, content, limit = LARGEST_UPLOAD }: Upload): Promise<string> {
  const incoming = join(inputDir, 'incoming');
  const part = join(incoming, `.upload-${randomUUID()}.part`);
  const hash = createHash('sha256');
  try {
    await makeFolder(incoming, DIRECTORY_MODE);
    await removeLeftParts(incoming);
    // Opened before anything can break off: a stream that opens the file itself may do so after it was removed.
    const file = await open(part, 'wx', FILE_MODE);
    await pipeline(measured(content, hash, limit), file.createWriteStream());
    // One folder per content: two files of one name must not overwrite each other.
    const folder = join('incoming', hash.digest('hex').slice(0, 8));
    await mkdir(join(inputDir, folder), { recursive: true, mode: DIRECTORY_MODE });
    await rename(part, join(inputDir, folder, name));
    return `${folder}/${name}`;
  } catch (error) {
    throw notBroughtIn(error, inputDir);
  } finally {
    await rm(part, { force: true }).catch(() => undefined);
  }
}

async function removeLeftParts(incoming: string): Promise<void> {
  for (const name of await readdir(incoming)) {
    if (!PART.test(name)) continue;
    const path = join(incoming, name);
    const found = await stat(path).catch(() => null);
    if (found !== null && found.mtimeMs < Date.now() - PART_LEFT_AFTER_MS) await rm(path, { force: true });
  }
}

async function* measured(
  content: AsyncIterable<Uint8Array>,
  hash: ReturnType<typeof createHash>,
  limit: number,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const bytes of content) {
    size += bytes.length;
    if (size > limit)
      throw new LoteError(
        'usage',
        `Receiving a file: it must be of at most ${Math.floor(limit / 1024 / 1024)} MB, found a larger one. Put it into the input folder, or run: lote run FILE`,
      );
    hash.update(bytes);
    yield bytes;
  }
}
