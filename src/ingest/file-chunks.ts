import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { LoteError } from '../domain/errors.ts';

/** 256 KiB: the overhead per chunk is negligible, and a few chunks in flight take little memory. */
const CHUNK_BYTES = 256 * 1024;
/** Lote reads a small file several times, and each read would allocate a whole chunk. The file may grow meanwhile. */
const LEAST_CHUNK_BYTES = 4 * 1024;

/** Streams the bytes of a file. @throws LoteError `file-unreadable`, also for a folder and a pipe */
export async function* fileChunks(path: string, signal?: AbortSignal): AsyncGenerator<Buffer> {
  const bytes = await sizeOf(path);
  const highWaterMark = Math.min(CHUNK_BYTES, Math.max(LEAST_CHUNK_BYTES, bytes + 1));
  const stream = createReadStream(path, { highWaterMark });
  try {
    for await (const chunk of stream) {
      signal?.throwIfAborted();
      yield chunk as Buffer;
    }
  } catch (error) {
    throw asUnreadable(error, path);
  } finally {
    stream.destroy();
  }
}

/** Refuses a pipe: reading it would wait for a writer that never comes, and Lote reads a file more than once. */
async function sizeOf(path: string): Promise<number> {
  const found = await stat(path).catch((error: unknown) => Promise.reject(asUnreadable(error, path)));
  if (found.isFile() || found.isDirectory()) return found.size;
  throw new LoteError('file-unreadable', `Reading ${path}: expected a readable file, but it is not a regular file`);
}

function asUnreadable(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return error;
  const reason =
    error.code === 'EISDIR'
      ? 'it is a directory'
      : error.code === 'ENOENT'
        ? 'there is no such file'
        : String(error.code);
  return new LoteError('file-unreadable', `Reading ${path}: expected a readable file, but ${reason}`, { cause: error });
}

/** SHA-256 (hex) of a file's bytes, streamed. @throws LoteError `file-unreadable` */
export async function hashFile(path: string, signal?: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of fileChunks(path, signal)) hash.update(chunk);
  return hash.digest('hex');
}
