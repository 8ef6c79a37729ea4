import { isAscii, isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { fileChunks } from '../file-chunks.ts';
import iconv from 'iconv-lite';

/** In bytes read as latin1: a character of well-formed UTF-8 (group 1), or one byte beyond ASCII. */
const BEYOND_ASCII =
  /([\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2})|[\x80-\xff]/g;
const UNFINISHED = /(?:[\xc2-\xdf]|[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2})$/;

/** Checks whether a stream of bytes is UTF-8, and finds the first invalid byte. Chunks may end anywhere. */
export class Utf8Scanner {
  invalidAt: number | null = null;
  cutShort = false;
  #valid = 0;
  #invalid = 0;
  #carry: Uint8Array = new Uint8Array(0);
  #offset = 0;

  /** True for more UTF-8 characters than invalid bytes: windows-1252 has few pairs such as `ß“`. */
  get multibyte(): boolean {
    return this.#valid > this.#invalid;
  }

  write(chunk: Uint8Array): void {
    const data =
      this.#carry.length === 0
        ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
        : Buffer.concat([this.#carry, chunk]);
    const unfinished = UNFINISHED.exec(data.subarray(-3).toString('latin1'))?.[0].length ?? 0;
    const body = data.subarray(0, data.length - unfinished);
    if (!isAscii(body)) this.#look(body);
    this.#carry = Buffer.from(data.subarray(body.length));
    this.#offset += body.length;
  }

  end(): void {
    if (this.#carry.length === 0) return;
    this.cutShort = this.invalidAt === null;
    this.invalidAt ??= this.#offset;
  }

  #look(body: Buffer): void {
    if (isUtf8(body)) {
      // A windows-1252 text of this length is never valid UTF-8.
      this.#valid = Infinity;
      return;
    }
    for (const { 1: character, index } of body.toString('latin1').matchAll(BEYOND_ASCII)) {
      if (character === undefined) {
        this.#invalid += 1;
        this.invalidAt ??= this.#offset + index;
      } else this.#valid += 1;
    }
  }
}

/** Lote keeps the head to decide the dialect; a header of 10,000 columns fits. */
const HEAD_BYTES = 1024 * 1024;
const CR = 0x0d;

/** Facts about the bytes of a file, determined before parsing. */
export interface FileScan {
  readonly sha256: string;
  readonly size: number;
  readonly head: Buffer;
  readonly utf8: Utf8Scanner;
  readonly singleByte: SingleByteEvidence;
  /** True if a byte is a carriage return, also as half of a CRLF or as a byte of UTF-16. */
  readonly hasCr: boolean;
  readonly hasNul: boolean;
  readonly lastByte: number | null;
}

/** Reads the file once for its hash, UTF-8 validity and NUL bytes. @throws LoteError `file-unreadable` */
export async function scanFile(path: string, signal?: AbortSignal): Promise<FileScan> {
  const hash = createHash('sha256');
  const utf8 = new Utf8Scanner();
  const singleByte = new SingleByteEvidence();
  let hasCr = false;
  const head: Buffer[] = [];
  let size = 0;
  let hasNul = false;
  let lastByte: number | null = null;
  for await (const chunk of fileChunks(path, signal)) {
    hash.update(chunk);
    utf8.write(chunk);
    hasCr ||= chunk.includes(CR);
    if (utf8.invalidAt !== null) singleByte.write(chunk);
    hasNul ||= chunk.includes(0);
    if (size < HEAD_BYTES) head.push(chunk.subarray(0, HEAD_BYTES - size));
    size += chunk.length;
    lastByte = chunk.findLast((byte) => byte > 0x20 || byte === 0x1a) ?? lastByte;
  }
  utf8.end();
  return { sha256: hash.digest('hex'), size, head: Buffer.concat(head), utf8, singleByte, hasCr, hasNul, lastByte };
}

const SAMPLES = 3;
const LONGEST_WORD = 40;

/** Letters of Portuguese, Spanish, French, Italian, German and English, and signs that Unicode calls letters. */
const LETTERS = 'àáâãäæçèéêëìíîïñòóôõöùúûüÿœÀÁÂÃÄÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖÙÚÛÜŸŒßªºµ';
/** These languages write them only before some letters: `Bãlan` is none of their words, `Bălan` is Romanian. */
const BEFORE_OTHERS = /ã(?![oeiszm]|\P{L}|$)|õ(?!e)|[çñ](?=[bcdfghjklmnpqrstvwxz])|æ(?!\p{L})/iu;
/** No capital follows a small letter in a word (`JoÆo`), and no three accented letters stand in a row. */
const WRONG_CASE = /(?!ß)\p{Ll}\p{Lu}/u;
const TOO_MANY_ACCENTS = /(?:(?![A-Za-z])\p{L}){3}/u;
/** Signs of windows-1252 that texts never contain, and bytes that it does not define. */
const NO_SIGNS = /[\u0080-\u009f¤¦¨¬¯¸ˆ˜ƒ]/u;
/** Signs that never stand inside a word, or never behind or before a letter; and superscript digits outside units. */
const INSIDE = /\p{L}[^\p{L}’´·­ªº–]+\p{L}/u;
const BEHIND_LETTER = /\p{L}[‚„†‡‰‹¡¢£¥¿]|[£¥©®]\p{L}/u;
const SMALL_DIGIT = /(?<=\p{L})(?<!(?<!\p{L})[cdkm]?m)[¹²³]|[¹²³]\p{L}/iu;
/** In code page 850 this is `á`; behind a letter that ends a cell it is hardly a no-break space (`Chá;`). */
const NO_BREAK_SPACE = 0xa0;
const ENDINGS = new Set([0x0a, 0x0d, 0x09, 0x20, 0x22, 0x2c, 0x3b, 0x7c]);

/** Evidence for and against windows-1252, gathered from chunks that are not UTF-8. */
class SingleByteEvidence {
  readonly samples: string[] = [];
  readonly implausible: string[] = [];

  write(chunk: Buffer): void {
    for (let at = 0; at < chunk.length && this.implausible.length < SAMPLES; at += 1)
      if ((chunk[at] ?? 0) >= 0x80) at = this.#weigh(chunk, at);
  }

  #weigh(chunk: Buffer, at: number): number {
    let from = at;
    let to = at + 1;
    while (from > 0 && at - from < LONGEST_WORD && isWordByte(chunk[from - 1])) from -= 1;
    while (to < chunk.length && to - at < LONGEST_WORD && isWordByte(chunk[to])) to += 1;
    const bytes = chunk.subarray(from, to);
    const word = iconv.decode(bytes, 'windows-1252');
    const endsAsSpace = bytes.at(-1) === NO_BREAK_SPACE && /\p{L}.$/u.test(word) && ENDINGS.has(chunk[to] ?? -1);
    const list = endsAsSpace || isImplausible(word) ? this.implausible : this.samples;
    if (list.length < SAMPLES && !list.includes(word)) list.push(word);
    return to - 1;
  }
}

function isImplausible(word: string): boolean {
  if (NO_SIGNS.test(word)) return true;
  for (const sign of word) if (/\p{L}/u.test(sign) && sign > '\u007f' && !LETTERS.includes(sign)) return true;
  return [BEFORE_OTHERS, WRONG_CASE, TOO_MANY_ACCENTS, INSIDE, BEHIND_LETTER, SMALL_DIGIT].some((odd) =>
    odd.test(word),
  );
}

function isWordByte(byte: number | undefined): boolean {
  return byte !== undefined && (byte >= 0x80 || (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a));
}
