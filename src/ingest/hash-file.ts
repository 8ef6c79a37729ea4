import { createHash } from 'node:crypto';
import { fileChunks } from './file-chunks.ts';

/**
 * SHA-256 (hex) of a file's bytes, streamed.
 * @throws LoteError `file-unreadable`
 */
export async function hashFile(path: string, signal?: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of fileChunks(path, signal)) hash.update(chunk);
  return hash.digest('hex');
}
