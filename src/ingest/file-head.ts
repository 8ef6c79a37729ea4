import { fileChunks } from './file-chunks.ts';

/** The first bytes of a file. @throws LoteError `file-unreadable` */
export async function fileHead(path: string): Promise<Buffer> {
  for await (const chunk of fileChunks(path)) return chunk;
  return Buffer.alloc(0);
}
