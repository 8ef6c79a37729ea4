import type { IncomingMessage } from 'node:http';

/** More than any invoice needs, and little enough that a flood of bodies is not a flood of memory. */
export const BODY_LIMIT_BYTES = 256 * 1024;

export type BodyRead =
  | { readonly kind: 'read'; readonly bytes: Buffer }
  | { readonly kind: 'too-large' }
  /** The client went away before the body's end. */
  | { readonly kind: 'aborted' };

/** Reads a request's body up to the limit. */
export function readBody(request: IncomingMessage): Promise<BodyRead> {
  return new Promise((resolve) => {
    if (Number(request.headers['content-length'] ?? 0) > BODY_LIMIT_BYTES) {
      resolve({ kind: 'too-large' });
      return;
    }
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= BODY_LIMIT_BYTES) chunks.push(chunk);
      else resolve({ kind: 'too-large' });
    });
    request.on('end', () => {
      const [only] = chunks;
      resolve({ kind: 'read', bytes: chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks) });
    });
    request.on('error', () => resolve({ kind: 'aborted' }));
    request.on('close', () => resolve({ kind: 'aborted' }));
  });
}
