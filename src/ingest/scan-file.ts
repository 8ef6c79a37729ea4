import { createHash } from 'node:crypto';
import { fileChunks } from './file-chunks.ts';
import { LineEnds } from './csv/line-ends.ts';
import { SingleByteEvidence } from './encoding/single-byte-evidence.ts';
import { Utf8Scanner } from './encoding/utf8-scanner.ts';

/** Kept for deciding the dialect; a header of 10,000 columns fits. */
const HEAD_BYTES = 1024 * 1024;

/** What the bytes of a file say before anything is parsed. */
export interface FileScan {
  readonly sha256: string;
  readonly size: number;
  readonly head: Buffer;
  readonly utf8: Utf8Scanner;
  readonly singleByte: SingleByteEvidence;
  /** Of the bytes as they are: what UTF-16 writes with them is something else. */
  readonly lineEnds: LineEnds;
  /** Offset of the first NUL byte; null when there is none. */
  readonly nulAt: number | null;
}

/**
 * One pass over the bytes: hash, UTF-8 validity, NUL bytes. The parse that follows hashes again, and a file that changed in between is
 * told by that.
 * @throws LoteError `file-unreadable`
 */
export async function scanFile(path: string, signal?: AbortSignal): Promise<FileScan> {
  const hash = createHash('sha256');
  const utf8 = new Utf8Scanner();
  const singleByte = new SingleByteEvidence();
  const lineEnds = new LineEnds();
  const head: Buffer[] = [];
  let size = 0;
  let nulAt: number | null = null;
  for await (const chunk of fileChunks(path, signal)) {
    hash.update(chunk);
    utf8.write(chunk);
    lineEnds.write(chunk);
    if (utf8.invalidAt !== null) singleByte.write(chunk);
    if (nulAt === null && chunk.includes(0)) nulAt = size + chunk.indexOf(0);
    if (size < HEAD_BYTES) head.push(chunk.subarray(0, HEAD_BYTES - size));
    size += chunk.length;
  }
  utf8.end();
  return { sha256: hash.digest('hex'), size, head: Buffer.concat(head), utf8, singleByte, lineEnds, nulAt };
}
