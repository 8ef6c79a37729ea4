const LF = 0x0a;
const CR = 0x0d;

/** Counts the lines of a text that arrives in pieces; a CRLF may be split between two pieces. */
export class LineCount {
  #line = 1;
  #afterCr = false;

  /** The number of the line in which the text so far ends. */
  get line(): number {
    return this.#line;
  }

  add(text: Uint8Array): void {
    this.#line = this.before(text);
    if (text.length > 0) this.#afterCr = text.at(-1) === CR;
  }

  /** Returns the number of the line in which this text ends, without adding the text to the count. */
  before(text: Uint8Array): number {
    let line = this.#line;
    // Uses the native search for line ends: a loop over each byte cost a twentieth of the time to read a file.
    for (let at = text.indexOf(LF); at >= 0; at = text.indexOf(LF, at + 1))
      if (!(at === 0 ? this.#afterCr : text[at - 1] === CR)) line += 1;
    for (let at = text.indexOf(CR); at >= 0; at = text.indexOf(CR, at + 1)) line += 1;
    return line;
  }
}

/** Returns the line and the column, in characters from 1, of the byte at `offset` of a text as UTF-8. */
export async function placeOf(
  chunks: AsyncIterable<Uint8Array>,
  offset: number,
): Promise<{ readonly line: number; readonly column: number }> {
  const lines = new LineCount();
  let column = 1;
  let from = 0;
  for await (const chunk of chunks) {
    const before = chunk.subarray(0, offset - from);
    const lineEnd = Math.max(before.lastIndexOf(LF), before.lastIndexOf(CR));
    column = (lineEnd < 0 ? column : 1) + charactersIn(before.subarray(lineEnd + 1));
    lines.add(before);
    from += chunk.length;
    if (from > offset) break;
  }
  return { line: lines.line, column };
}

function charactersIn(bytes: Uint8Array): number {
  let count = 0;
  for (const byte of bytes) if ((byte & 0xc0) !== 0x80) count += 1;
  return count;
}
