const LINE_BREAK = /\r\n|\n|\r/u;

/**
 * Whether a cell holds the end of one row, whole rows, and the beginning of another one. Two stray quotes, one before a text and one behind a text of the
 * same column further down, make one cell of everything between them: rows would be gone without a word, and the first would have the amount of the last.
 * A text that somebody wrote has not, line by line, the very number of delimiters that such rows have.
 */
export function holdsRows(cells: readonly string[], delimiter: string): boolean {
  return cells.some((cell, at) => {
    if (!cell.includes('\n') && !cell.includes('\r')) return false;
    const delimiters = cell.split(LINE_BREAK).map((line) => line.split(delimiter).length - 1);
    const ofRow = cells.length - 1;
    const isWhole = (count: number, index: number): boolean => {
      if (index === 0) return count === ofRow - at;
      return count === (index === delimiters.length - 1 ? at : ofRow);
    };
    return ofRow > 0 && delimiters.every(isWhole);
  });
}
