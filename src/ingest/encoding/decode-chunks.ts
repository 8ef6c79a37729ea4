import iconv from 'iconv-lite';
import { Refusal } from '../findings.ts';
import { LineCount } from '../line-count.ts';
import type { EncodingDecision } from './decide-encoding.ts';
import type { FileScan } from './scan-file.ts';

const LOST = '\u{fffd}';
const MARK = Buffer.from('\u{feff}');

/** Streams the file's text as UTF-8 without byte order mark. @throws Refusal for bytes and signs that no text has */
export async function* decodeChunks(
  chunks: AsyncIterable<Buffer>,
  { encoding, bom }: Pick<EncodingDecision, 'encoding' | 'bom'>,
): AsyncGenerator<Uint8Array> {
  const lines = new LineCount();
  const decoder = encoding === 'utf-8' ? null : decoderOf(encoding);
  const bytesOf = (text: string): Buffer => {
    const lost = text.indexOf(LOST);
    if (lost >= 0) throw damaged(encoding, lines.before(Buffer.from(text.slice(0, lost))));
    return Buffer.from(text);
  };
  let isBeginning = bom;
  for await (const chunk of chunks) {
    let text = decoder === null ? chunk : bytesOf(decoder.write(chunk));
    // Some programs write two marks.
    while (isBeginning && MARK.equals(text.subarray(0, MARK.length))) text = text.subarray(MARK.length);
    if (text.length === 0) continue;
    isBeginning = false;
    // Checks the decoded text: UTF-16 has NUL bytes, but PostgreSQL cannot store a NUL character.
    if (text.includes(0)) throw nul(lines.before(text.subarray(0, text.indexOf(0))));
    if (text.includes(MARK)) throw joined(lines.before(text.subarray(0, text.indexOf(MARK))));
    lines.add(text);
    yield text;
  }
  const rest = bytesOf(decoder?.end() ?? '');
  if (rest.length > 0) yield rest;
}

interface Decoder {
  write(chunk: Buffer): string;
  end(): string | undefined;
}

/** Decodes bytes that the encoding does not know as U+FFFD; iconv would pass on half of a surrogate pair of UTF-16. */
function decoderOf(encoding: string): Decoder {
  if (!encoding.startsWith('utf-16')) return iconv.getDecoder(encoding, { stripBOM: false });
  const decoder = new TextDecoder(encoding, { ignoreBOM: true });
  return { write: (chunk) => decoder.decode(chunk, { stream: true }), end: () => decoder.decode() };
}

function damaged(encoding: string, line: number): Refusal {
  const message = `Line ${line}: expected ${encoding} throughout, found bytes that it does not know, or half of a character. Declare the encoding of the file, save it as UTF-8, or export it again if it was cut short`;
  return new Refusal('encoding-damaged', message, { row: line });
}

function joined(line: number): Refusal {
  const message = `Line ${line}: expected one file, found a byte order mark (U+FEFF) in the middle, with which another file begins. If two were joined, drop each of them alone; otherwise remove this invisible character`;
  return new Refusal('byte-order-mark-inside', message, { row: line });
}

function nul(line: number): Refusal {
  const message = `Line ${line}: expected text, found the character U+0000. Export the file again`;
  return new Refusal('binary', message, { row: line });
}

/** Returns the beginning of a file as UTF-8: the first piece only, because the head may end inside a character. */
export async function decodedHead(scan: FileScan, encoding: EncodingDecision): Promise<Uint8Array> {
  async function* once() {
    yield scan.head;
  }
  for await (const piece of decodeChunks(once(), encoding)) return piece;
  return new Uint8Array(0);
}
