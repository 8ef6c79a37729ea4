import iconv from 'iconv-lite';
import { LineCount } from '../line-count.ts';
import { Refusal } from '../findings.ts';
import type { FileScan } from './scan-file.ts';
import type { EncodingDecision } from './decide-encoding.ts';

const LOST = '\u{fffd}';

const MARK = Buffer.from('\u{feff}');
const FIRST_BYTES = 4;
const LF = 0x0a;
const CR = 0x0d;

interface Decoder {
  write(chunk: Buffer): Uint8Array;
  end(): Uint8Array;
}

/**
 * Streams the file's text as UTF-8 without byte order mark.
 * @throws Refusal `encoding-damaged` for bytes that are invalid in the encoding
 */
export async function* decodeChunks(
  chunks: AsyncIterable<Buffer>,
  { encoding, bom }: Pick<EncodingDecision, 'encoding' | 'bom'>,
): AsyncGenerator<Uint8Array> {
  const lines = new LineCount();
  const decoder = decoderOf(encoding, lines);
  const marks = new ByteOrderMarks(bom);
  for await (const chunk of chunks) {
    let text = decoder.write(chunk);
    // Checks the decoded text: UTF-16 has NUL bytes, but PostgreSQL cannot store a NUL character.
    if (text.includes(0)) throw nul(lines.before(text.subarray(0, text.indexOf(0))));
    text = marks.skipped(text);
    const inside = marks.inside(text);
    if (inside >= 0) throw joined(lines.before(text.subarray(0, inside)));
    lines.add(text);
    if (text.length > 0) yield text;
  }
  const rest = decoder.end();
  if (rest.length > 0) yield rest;
}

/** Finds the byte order marks of a file in its text as UTF-8. Some programs write two marks at the beginning. */
class ByteOrderMarks {
  #isBeginning: boolean;
  #lastByte = 0;
  /** The first bytes of the text. A second file of the same kind begins with the same bytes. */
  #first: Buffer | null = null;

  constructor(bom: boolean) {
    this.#isBeginning = bom;
  }

  /**
   * Returns the offset of a mark before another file: at the start of a line, or before the same first bytes. Returns
   * -1 if there is none.
   */
  inside(text: Uint8Array): number {
    const bytes = Buffer.from(text.buffer, text.byteOffset, text.byteLength);
    let found = -1;
    for (let at = bytes.indexOf(MARK); at >= 0 && found < 0; at = bytes.indexOf(MARK, at + 1)) {
      const before = at === 0 ? this.#lastByte : bytes[at - 1];
      const isLine = before === LF || before === CR;
      if (isLine || this.#first?.equals(bytes.subarray(at + MARK.length, at + MARK.length + FIRST_BYTES)) === true)
        found = at;
    }
    this.#lastByte = text.at(-1) ?? this.#lastByte;
    return found;
  }

  skipped(text: Uint8Array): Uint8Array {
    let from = 0;
    while (this.#isBeginning && MARK.equals(text.subarray(from, from + MARK.length))) from += MARK.length;
    if (text.length > from) {
      this.#isBeginning = false;
      this.#first ??= Buffer.from(text.subarray(from, from + FIRST_BYTES));
    }
    return text.subarray(from);
  }
}

function decoderOf(encoding: string, lines: LineCount): Decoder {
  if (encoding === 'utf-8') return { write: (chunk) => chunk, end: () => new Uint8Array(0) };
  return encoding === 'utf-16le' || encoding === 'utf-16be' ? utf16(encoding, lines) : byIconv(encoding, lines);
}

/**
 * Fatal, so that a lone surrogate or an odd last byte is damage, not a question mark. `skipped` removes the byte order
 * mark.
 */
function utf16(encoding: string, lines: LineCount): Decoder {
  const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
  let bytes = 0;
  return {
    write(chunk) {
      const aligned = chunk.subarray(bytes % 2);
      bytes += chunk.length;
      try {
        return Buffer.from(decoder.decode(chunk, { stream: true }));
      } catch {
        throw damaged(encoding, lines.before(soundBeginning(encoding, aligned)));
      }
    },
    end() {
      try {
        return Buffer.from(decoder.decode());
      } catch {
        throw damaged(encoding, lines.before(new Uint8Array(0)), ' in its end: the file was cut short');
      }
    },
  };
}

function soundBeginning(encoding: string, chunk: Buffer): Uint8Array {
  const text = new TextDecoder(encoding, { ignoreBOM: true }).decode(chunk);
  return Buffer.from(text.slice(0, Math.max(text.indexOf(LOST), 0)));
}

function byIconv(encoding: string, lines: LineCount): Decoder {
  const decoder = iconv.getDecoder(encoding, { stripBOM: false });
  function checked(text: string): Uint8Array {
    const lost = text.indexOf(LOST);
    if (lost >= 0) throw damaged(encoding, lines.before(Buffer.from(text.slice(0, lost))));
    return Buffer.from(text);
  }
  return { write: (chunk) => checked(decoder.write(chunk)), end: () => checked(decoder.end() ?? '') };
}

function damaged(encoding: string, line: number, where = ''): Refusal {
  const message = `Line ${line}: expected ${encoding} throughout, found bytes that it does not know${where}. Declare the encoding of the file, or save it as UTF-8`;
  return new Refusal('encoding-damaged', message, { row: line });
}

function joined(line: number): Refusal {
  const message = `Line ${line}: expected one file, found a byte order mark in the middle, with which another file begins: two were joined. Drop each of them alone`;
  return new Refusal('byte-order-mark-inside', message, { row: line });
}

function nul(line: number): Refusal {
  const message = `Line ${line}: expected text, found the character U+0000. Export the file again`;
  return new Refusal('binary', message, { row: line });
}

/**
 * Returns the beginning of a file as UTF-8. Reads only the first piece, because the head may end inside a character.
 */
export async function decodedHead(scan: FileScan, encoding: EncodingDecision): Promise<Uint8Array> {
  async function* once() {
    yield scan.head;
  }
  for await (const piece of decodeChunks(once(), encoding)) return piece;
  return new Uint8Array(0);
}
