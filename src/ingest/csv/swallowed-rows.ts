/** How rows are parted, and how often in the header. */
interface RowShape {
  readonly delimiter: string;
  readonly ofHeader: number;
}

/** A line of a text may well have two commas, but not the very five of a header. */
const TELLING = 5;
const LINE_BREAK = /\r\n|\n|\r/u;

/**
 * Whether a cell holds the end of one row and the beginning of another one, or a whole row between. Two stray quotes, one before a text and one behind a text
 * further down, make one cell of everything between them: rows would be gone without a word, and, where both stand in one column, the first would have the amount
 * of the last. What lies between may be blank, a totals row or cut off. A text that somebody wrote has not the very number of delimiters that such rows have.
 */
export function holdsRows(cells: readonly string[], { delimiter, ofHeader }: RowShape): boolean {
  return cells.some((cell, at) => {
    if (!cell.includes('\n') && !cell.includes('\r')) return false;
    const delimiters = cell.split(LINE_BREAK).map((line) => line.split(delimiter).length - 1);
    const ofRow = cells.length - 1;
    const isCut = delimiters[0] === ofRow - at && delimiters.at(-1) === at;
    return ofRow > 0 && (isCut || (ofHeader >= TELLING && delimiters.slice(1, -1).includes(ofHeader)));
  });
}
