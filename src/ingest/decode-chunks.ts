import iconv from 'iconv-lite';
import type { EncodingDecision } from './decide-encoding.ts';
import { Refusal } from './refusal.ts';

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
  const decoder = decoderOf(encoding);
  let skip = bom ? 3 : 0;
  for await (const chunk of chunks) {
    let text = decoder.write(chunk);
    // In UTF-16 a NUL byte is no news, and a NUL character is: PostgreSQL keeps none.
    if (text.includes(0))
      throw new Refusal('binary', 'Expected text, found the character U+0000. Export the file again');
    const cut = Math.min(skip, text.length);
    text = text.subarray(cut);
    skip -= cut;
    if (text.length > 0) yield text;
  }
  const rest = decoder.end();
  if (rest.length > 0) yield rest;
}

function decoderOf(encoding: string): Decoder {
  if (encoding === 'utf-8') return { write: (chunk) => chunk, end: () => new Uint8Array(0) };
  return encoding === 'utf-16le' || encoding === 'utf-16be' ? utf16(encoding) : singleByte(encoding);
}

/** Fatal: a lone surrogate or an odd byte at the end is damage, not a question mark. The mark itself is kept, and skipped above. */
function utf16(encoding: string): Decoder {
  const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
  function decode(chunk?: Buffer): Uint8Array {
    try {
      return Buffer.from(chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true }));
    } catch {
      throw damaged(encoding);
    }
  }
  return { write: decode, end: () => decode() };
}

function singleByte(encoding: string): Decoder {
  const decoder = iconv.getDecoder(encoding, { stripBOM: false });
  function checked(text: string): Uint8Array {
    if (text.includes('\u{fffd}')) throw damaged(encoding);
    return Buffer.from(text);
  }
  return { write: (chunk) => checked(decoder.write(chunk)), end: () => checked(decoder.end() ?? '') };
}

function damaged(encoding: string): Refusal {
  return new Refusal(
    'encoding-damaged',
    `Expected ${encoding} throughout, found bytes that it does not know. Declare the encoding of the file, or save it as UTF-8`,
  );
}
