import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { LoteError } from '../domain/errors.ts';

/** 256 KiB: the overhead per chunk is negligible, and a few chunks in flight take little memory. */
const CHUNK_BYTES = 256 * 1024;

/** Streams the bytes of a file. @throws LoteError `file-unreadable`, also for a folder and a pipe */
export async function* fileChunks(path: string, signal?: AbortSignal): AsyncGenerator<Buffer> {
  try {
    // Reading a pipe would wait for a writer that never comes, and Lote reads a file more than once.
    if (!(await stat(path)).isFile()) throw unreadable(path, 'it is not a regular file');
    for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES })) {
      signal?.throwIfAborted();
      yield chunk as Buffer;
    }
  } catch (error) {
    if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) throw error;
    throw unreadable(path, error.code === 'ENOENT' ? 'there is no such file' : String(error.code), error);
  }
}

function unreadable(path: string, reason: string, cause?: Error): LoteError {
  return new LoteError('file-unreadable', `Reading ${path}: expected a readable file, but ${reason}`, { cause });
}

/** SHA-256 (hex) of a file's bytes, streamed. @throws LoteError `file-unreadable` */
export async function hashFile(path: string, signal?: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of fileChunks(path, signal)) hash.update(chunk);
  return hash.digest('hex');
}
