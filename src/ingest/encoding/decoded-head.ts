import type { EncodingDecision } from './decide-encoding.ts';
import { decodeChunks } from './decode-chunks.ts';
import type { FileScan } from '../scan-file.ts';

/** The beginning of a file as UTF-8; only the first piece, since the cut end of the head means nothing. */
export async function decodedHead(scan: FileScan, encoding: EncodingDecision): Promise<Uint8Array> {
  async function* once() {
    yield scan.head;
  }
  for await (const piece of decodeChunks(once(), encoding)) return piece;
  return new Uint8Array(0);
}
