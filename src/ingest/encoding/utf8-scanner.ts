import { isAscii, isUtf8 } from 'node:buffer';

/** Tells of a stream of bytes whether it is UTF-8, and where it first is not. Chunks may end anywhere. */
export class Utf8Scanner {
  /** Offset of the first byte that cannot be UTF-8; null while all is well. */
  invalidAt: number | null = null;
  /** The bytes ended inside a character. */
  cutShort = false;
  #latin = false;
  #other = 0;
  #invalid = 0;
  #carry: Uint8Array = new Uint8Array(0);
  #offset = 0;

  /**
   * Well-formed characters of several bytes were seen, such as no text in windows-1252 has: a Latin letter or a mark of punctuation, or
   * more of any kind than bytes that cannot be UTF-8 (`ß“` of windows-1252 is a letter of the N'Ko script).
   */
  get multibyte(): boolean {
    return this.#latin || this.#other > this.#invalid;
  }

  write(chunk: Uint8Array): void {
    const data = this.#carry.length === 0 ? chunk : Buffer.concat([this.#carry, chunk]);
    const end = completeEnd(data);
    const body = data.subarray(0, end);
    if (!isAscii(body)) this.#look(body);
    this.#carry = data.slice(end);
    this.#offset += end;
  }

  end(): void {
    if (this.#carry.length === 0) return;
    this.cutShort = this.invalidAt === null;
    this.invalidAt ??= this.#offset;
  }

  #look(body: Uint8Array): void {
    if (isUtf8(body)) {
      this.#latin = true;
      return;
    }
    for (let at = 0; at < body.length;) {
      if ((body[at] ?? 0) < 0x80) {
        at += 1;
        continue;
      }
      const length = sequenceLength(body, at);
      if (length > 1) this.#weigh(body, at);
      if (length === 0) {
        this.#invalid += 1;
        this.invalidAt ??= this.#offset + at;
      }
      at += Math.max(length, 1);
    }
  }

  #weigh(body: Uint8Array, at: number): void {
    if (isLatin(body[at] ?? 0, body[at + 1] ?? 0)) this.#latin = true;
    else this.#other += 1;
  }
}

/** U+0080 to U+017F, and U+2000 to U+20BF: what the languages of these files are written with. */
function isLatin(lead: number, next: number): boolean {
  return (lead >= 0xc2 && lead <= 0xc5) || (lead === 0xe2 && next >= 0x80 && next <= 0x82);
}

/** Index behind the last character that is complete; what follows (at most 3 bytes) waits for the next chunk. */
function completeEnd(data: Uint8Array): number {
  for (let back = 1; back <= 3 && back <= data.length; back += 1) {
    const byte = data[data.length - back] ?? 0;
    if (byte < 0x80) break;
    if (byte >= 0xc2 && byte <= 0xf4) return expectedLength(byte) > back ? data.length - back : data.length;
    if (byte >= 0xc0) break;
  }
  return data.length;
}

function expectedLength(lead: number): number {
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  if (lead < 0xe0) return 2;
  return lead < 0xf0 ? 3 : 4;
}

/** Length of the well-formed character at `at`; 0 when there is none. */
function sequenceLength(data: Uint8Array, at: number): number {
  const length = expectedLength(data[at] ?? 0);
  if (length <= 1) return length;
  return isUtf8(data.subarray(at, at + length)) && at + length <= data.length ? length : 0;
}
