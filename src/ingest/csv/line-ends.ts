const LF = 0x0a;
const CR = 0x0d;

/** Which line ends the bytes of a file hold: the CSV parser compares every character with each that it is told to expect. */
export class LineEnds {
  #crlf = false;
  #lf = false;
  #cr = false;
  #afterCr = false;

  write(chunk: Buffer): void {
    if (chunk.length === 0) return;
    if (this.#afterCr) {
      if (chunk[0] === LF) this.#crlf = true;
      else this.#cr = true;
    }
    for (let at = chunk.indexOf(CR); at >= 0 && !(this.#cr && this.#crlf); at = chunk.indexOf(CR, at + 1)) {
      if (chunk[at + 1] === LF) this.#crlf = true;
      else if (at + 1 < chunk.length) this.#cr = true;
    }
    for (let at = chunk.indexOf(LF); at >= 0 && !this.#lf; at = chunk.indexOf(LF, at + 1))
      this.#lf = at === 0 ? !this.#afterCr : chunk[at - 1] !== CR;
    this.#afterCr = chunk.at(-1) === CR;
  }

  /** After the last chunk. The longest first: a CRLF must not be taken for two. */
  found(): readonly string[] {
    return [...(this.#crlf ? ['\r\n'] : []), ...(this.#lf ? ['\n'] : []), ...(this.#cr || this.#afterCr ? ['\r'] : [])];
  }
}
