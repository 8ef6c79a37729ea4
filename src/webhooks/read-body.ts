import type { IncomingMessage } from 'node:http';
import { brotliDecompressSync, unzipSync } from 'node:zlib';

/** The budget of one receiver. */
export type ByteBudget = ReturnType<typeof createByteBudget>;

/** Makes a budget of `limit` bytes for all bodies that are in memory at the same time, from the first chunk to the answer. */
export function createByteBudget(limit: number) {
  let taken = 0;
  return {
    /** Takes bytes. Returns false, and takes nothing, if they do not fit. */
    take(bytes: number): boolean {
      if (taken + bytes > limit) return false;
      taken += bytes;
      return true;
    },
    give(bytes: number): void {
      taken -= bytes;
    },
  };
}

export type ReadBody =
  | { readonly kind: 'read'; readonly raw: Uint8Array }
  | { readonly kind: 'too-large' | 'no-memory' | 'aborted' };

/**
 * Reads a body as received, without decoding, because the signature is over these bytes. Bytes of the budget stay taken
 * only if the body was read; the caller then gives them back.
 */
export function readBody(incoming: IncomingMessage, limit: number, budget: ByteBudget): Promise<ReadBody> {
  if (Number(incoming.headers['content-length'] ?? 0) > limit) return Promise.resolve({ kind: 'too-large' });
  // The request broke off before this function added listeners, so no event would ever come.
  if (incoming.destroyed) return Promise.resolve({ kind: 'aborted' });
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;

    function end(result: ReadBody): void {
      incoming.off('data', onData).off('end', onEnd).off('error', onBroken).off('close', onBroken);
      // A late error of a socket that the receiver no longer reads must not end the process.
      incoming.on('error', () => undefined);
      if (result.kind !== 'read') {
        budget.give(bytes);
        // The request stays in memory until its answer is sent, but its bytes need not.
        chunks.length = 0;
        incoming.pause();
      }
      resolve(result);
    }
    function onData(chunk: Buffer): void {
      if (bytes + chunk.byteLength > limit) return end({ kind: 'too-large' });
      if (!budget.take(chunk.byteLength)) return end({ kind: 'no-memory' });
      bytes += chunk.byteLength;
      chunks.push(chunk);
    }
    function onEnd(): void {
      end({ kind: 'read', raw: Buffer.concat(chunks, bytes) });
    }
    function onBroken(): void {
      end({ kind: 'aborted' });
    }

    incoming.on('data', onData).on('end', onEnd).on('error', onBroken).on('close', onBroken);
  });
}

const READ_BY: ReadonlyMap<string, typeof unzipSync> = new Map([
  ['gzip', unzipSync],
  ['x-gzip', unzipSync],
  ['deflate', unzipSync],
  ['br', brotliDecompressSync],
]);
/** The first two bytes of every gzip file; no JSON begins with them. */
const GZIP = [0x1f, 0x8b];

/**
 * Unpacks a body by its `Content-Encoding`, or because it begins like gzip. Returns null if it has more than `limit` bytes,
 * and a body that it cannot unpack as it is.
 */
export function unpackBody(raw: Uint8Array, contentEncoding: string | undefined, limit: number): Uint8Array | null {
  const isGzip = GZIP.every((byte, at) => raw[at] === byte);
  const unpack = isGzip ? unzipSync : READ_BY.get(contentEncoding?.trim().toLowerCase() ?? '');
  try {
    return unpack?.(raw, { maxOutputLength: limit }) ?? raw;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? null : raw;
  }
}
