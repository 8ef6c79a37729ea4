import { isAscii } from 'node:buffer';
import iconv from 'iconv-lite';
import type { EncodingDecision } from './decide-encoding.ts';
import { LineCount } from '../csv/line-count.ts';
import { Refusal } from '../refusal.ts';

/** What decoders put in place of bytes they do not know. */
const LOST = '\u{fffd}';

/** Turns one chunk of a file into characters; `null` ends it. */
interface Decoder {
  write(chunk: Buffer): Uint8Array;
  end(): Uint8Array;
}

/**
 * The file's text as UTF-8 bytes without byte order mark; positions in what follows are positions in these bytes.
 * @throws Refusal `encoding-damaged` for bytes that the encoding does not know.
 */
export async function* decodeChunks(
  chunks: AsyncIterable<Buffer>,
  { encoding, bom }: Pick<EncodingDecision, 'encoding' | 'bom'>,
): AsyncGenerator<Uint8Array> {
  const lines = new LineCount();
  const decoder = decoderOf(encoding, lines);
  let skip = bom ? 3 : 0;
  for await (const chunk of chunks) {
    let text = decoder.write(chunk);
    // In UTF-16 a NUL byte is no news, and a NUL character is: PostgreSQL keeps none.
    if (text.includes(0)) throw nul(lines.before(text.subarray(0, text.indexOf(0))));
    if (encoding !== 'utf-8') lines.add(text);
    const cut = Math.min(skip, text.length);
    text = text.subarray(cut);
    skip -= cut;
    if (text.length > 0) yield text;
  }
  const rest = decoder.end();
  if (rest.length > 0) yield rest;
}

function decoderOf(encoding: string, lines: LineCount): Decoder {
  if (encoding === 'utf-8') return { write: (chunk) => chunk, end: () => new Uint8Array(0) };
  return encoding === 'utf-16le' || encoding === 'utf-16be' ? utf16(encoding, lines) : singleByte(encoding, lines);
}

/** Fatal: a lone surrogate or an odd byte at the end is damage, not a question mark. The mark itself is kept, and skipped above. */
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

/** What stands before the first damage. */
function soundBeginning(encoding: string, chunk: Buffer): Uint8Array {
  const text = new TextDecoder(encoding, { ignoreBOM: true }).decode(chunk);
  return Buffer.from(text.slice(0, Math.max(text.indexOf(LOST), 0)));
}

/** Encodings of one byte a character, ASCII below 0x80: nearly all that is declared. They are translated by a table, from bytes to bytes. */
const BY_TABLE = /^(?:windows-?125\d|cp-?125\d|iso-?8859-?\d{1,2}|latin-?\d|cp-?(?:437|850|852|858|860|863|865))$/;

function singleByte(encoding: string, lines: LineCount): Decoder {
  if (BY_TABLE.test(encoding)) return byTable(encoding, lines);
  const decoder = iconv.getDecoder(encoding, { stripBOM: false });
  function checked(text: string): Uint8Array {
    const lost = text.indexOf(LOST);
    if (lost >= 0) throw damaged(encoding, lines.before(Buffer.from(text.slice(0, lost))));
    return Buffer.from(text);
  }
  return { write: (chunk) => checked(decoder.write(chunk)), end: () => checked(decoder.end() ?? '') };
}

function byTable(encoding: string, lines: LineCount): Decoder {
  const table = Array.from({ length: 256 }, (_, byte) => iconv.decode(Buffer.of(byte), encoding)).map((sign) =>
    sign === LOST ? null : Buffer.from(sign),
  );
  return {
    write(chunk) {
      if (isAscii(chunk)) return chunk;
      // No character of one byte needs more than three in UTF-8.
      const text = Buffer.allocUnsafe(chunk.length * 3);
      let to = 0;
      for (let at = 0; at < chunk.length; at += 1) {
        const byte = chunk[at] ?? 0;
        if (byte < 0x80) {
          text[to] = byte;
          to += 1;
          continue;
        }
        const sign = table[byte] ?? null;
        if (sign === null) throw damaged(encoding, lines.before(text.subarray(0, to)));
        to += sign.copy(text, to);
      }
      return text.subarray(0, to);
    },
    end: () => new Uint8Array(0),
  };
}

function damaged(encoding: string, line: number, where = ''): Refusal {
  return new Refusal(
    'encoding-damaged',
    `Line ${line}: expected ${encoding} throughout, found bytes that it does not know${where}. Declare the encoding of the file, or save it as UTF-8`,
    { row: line },
  );
}

function nul(line: number): Refusal {
  return new Refusal('binary', `Line ${line}: expected text, found the character U+0000. Export the file again`, {
    row: line,
  });
}
