const LF = 0x0a;
const CR = 0x0d;

/** Counts the lines of a text that comes in pieces; a CRLF may lie across two of them. */
export class LineCount {
  #line = 1;
  #afterCr = false;

  add(text: Uint8Array): void {
    for (const byte of text) {
      if (byte === CR || (byte === LF && !this.#afterCr)) this.#line += 1;
      this.#afterCr = byte === CR;
    }
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
