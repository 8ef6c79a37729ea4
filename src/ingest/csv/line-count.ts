const LF = 0x0a;
const CR = 0x0d;

/** Counts the lines of a text that comes in pieces; a CRLF may lie across two of them. */
export class LineCount {
  #line = 1;
  #afterCr = false;

  add(text: Uint8Array): void {
    if (text.length === 0) return;
    // Searched natively, line by line: looking at each byte here cost a twentieth of reading a file.
    for (let at = text.indexOf(LF); at >= 0; at = text.indexOf(LF, at + 1)) {
      const isCrlf = at === 0 ? this.#afterCr : text[at - 1] === CR;
      if (!isCrlf) this.#line += 1;
    }
    for (let at = text.indexOf(CR); at >= 0; at = text.indexOf(CR, at + 1)) this.#line += 1;
    this.#afterCr = text.at(-1) === CR;
  }

  /** The line that is reached when this text follows; nothing is counted. */
  before(text: Uint8Array): number {
    const ahead = new LineCount();
    ahead.#line = this.#line;
    ahead.#afterCr = this.#afterCr;
    ahead.add(text);
    return ahead.#line;
  }
}
