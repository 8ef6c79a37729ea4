import iconv from 'iconv-lite';

const SAMPLES = 3;
/** Bytes that windows-1252 leaves undefined: C1 control characters elsewhere. */
const UNDEFINED = new Set([0x81, 0x8d, 0x8f, 0x90, 0x9d]);
/**
 * Bytes above ASCII that are letters, or marks found inside words, in windows-1252: S and Z with caron, OE, Y diaeresis, the apostrophe
 * U+2019, acute accent, middle dot, ordinals. Any other sign between two letters speaks for a DOS code page (`Servi‡os`).
 */
const INSIDE_WORDS = new Set([0x8a, 0x8c, 0x8e, 0x92, 0x96, 0x9a, 0x9c, 0x9e, 0x9f, 0xaa, 0xad, 0xb4, 0xb7, 0xba]);

/** Capital letters above 0xA0's block: S and Z with caron, OE, Y with diaeresis. */
const CAPITALS = new Set([0x8a, 0x8c, 0x8e, 0x9f]);
/** Opening quotes, opening marks and signs that never follow a letter: code page 850 ends words with these bytes (`Caf‚` for `Café`). */
const NEVER_AFTER_LETTER = new Set([0x82, 0x83, 0x84, 0x87, 0x88, 0x89, 0x8b, 0x98, 0xa1, 0xa2, 0xa3, 0xa5, 0xbf]);
/** The no-break space is the `á` of code page 850: after a letter, and with the cell or the line ending behind it, it is no space (`Chá;`). */
const NO_BREAK_SPACE = 0xa0;
const ENDINGS = new Set([0x0a, 0x0d, 0x09, 0x20, 0x22, 0x2c, 0x3b, 0x7c]);
/** The currency sign is the euro of ISO 8859-15 and the `ñ` of code page 850; nobody means it. */
const CURRENCY_SIGN = 0xa4;
/** Words of PT, ES, FR, DE and EN have two accented letters in a row at most; text of another alphabet has nothing else. */
const MOST_IN_A_ROW = 2;

/** Evidence for and against windows-1252, gathered from chunks that are not UTF-8. */
export class SingleByteEvidence {
  /** Words with accents, as windows-1252 reads them. */
  readonly samples: string[] = [];
  /** Words that make no sense in windows-1252. */
  readonly implausible: string[] = [];

  write(chunk: Buffer): void {
    if (this.samples.length >= SAMPLES && this.implausible.length >= SAMPLES) return;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] ?? 0;
      if (byte >= 0x80) this.#weigh(chunk, at, byte);
    }
  }

  #weigh(chunk: Buffer, at: number, byte: number): void {
    const list = isOdd(chunk, at, byte) ? this.implausible : this.samples;
    if (list.length >= SAMPLES) return;
    const word = wordAround(chunk, at);
    if (!list.includes(word)) list.push(word);
  }
}

function isOdd(chunk: Buffer, at: number, byte: number): boolean {
  if (UNDEFINED.has(byte) || byte === CURRENCY_SIGN) return true;
  if (NEVER_AFTER_LETTER.has(byte) && isLetter(chunk[at - 1])) return true;
  if (byte === NO_BREAK_SPACE && isLetter(chunk[at - 1]) && ENDINGS.has(chunk[at + 1] ?? -1)) return true;
  if (CAPITALS.has(byte) && isLowerCase(chunk[at - 1])) return true;
  if (isAccented(byte) && isLongRun(chunk, at)) return true;
  if (byte >= 0xc0 && byte !== 0xd7 && byte !== 0xf7) return byte < 0xdf && isLowerCase(chunk[at - 1]);
  return !INSIDE_WORDS.has(byte) && isLetter(chunk[at - 1]) && isLetter(chunk[at + 1]);
}

/** `JoÆo` is `João` of code page 850: a capital letter does not follow a small one. */
function isLowerCase(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x61 && byte <= 0x7a;
}

function isAccented(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0xc0 && byte !== 0xd7 && byte !== 0xf7;
}

function isLongRun(chunk: Buffer, at: number): boolean {
  for (let back = 1; back <= MOST_IN_A_ROW; back += 1) if (!isAccented(chunk[at - back])) return false;
  return true;
}

function isLetter(byte: number | undefined): boolean {
  return byte !== undefined && ((byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a));
}

function wordAround(chunk: Buffer, at: number): string {
  let from = at;
  let to = at + 1;
  while (from > 0 && at - from < 20 && isWordByte(chunk[from - 1])) from -= 1;
  while (to < chunk.length && to - at < 20 && isWordByte(chunk[to])) to += 1;
  return iconv.decode(chunk.subarray(from, to), 'windows-1252');
}

function isWordByte(byte: number | undefined): boolean {
  return byte !== undefined && (isLetter(byte) || byte >= 0x80);
}
