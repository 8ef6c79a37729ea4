import type { Reading } from '../reading.ts';
import { Refusal } from '../refusal.ts';
import { CsvReader } from './csv-reader.ts';
import type { CsvRecord } from './csv-reader.ts';
import type { DialectDecision } from './decide-dialect.ts';
import { isEmpty, rowWidth, trailingCells, type RowWidth } from './row-width.ts';

/**
 * Finds how many trailing delimiters the rows of a file have. Some programs write them in the header alone: a row whose last column is filled and that has
 * no trailing cell proves it, unless another row has more. Where no row proves anything, the header decides, so that a row that may lack a cell is not sent.
 */
class TrailingCells {
  readonly #header: RowWidth;
  /** Trailing cells: most of any row that ends with a delimiter, and of one whose last column is filled. */
  #most = 0;
  #whole = -1;

  constructor(header: RowWidth) {
    this.#header = header;
  }

  /** True once no other row can say more. */
  take(cells: readonly string[]): boolean {
    const { columns, trailing } = this.#header;
    const found = cells.length - columns;
    if (found < 0) return false;
    if (isEmpty(cells.at(-1))) this.#most = Math.max(this.#most, found);
    if (!isEmpty(cells[columns - 1]) && cells.slice(columns).every(isEmpty)) this.#whole = Math.max(this.#whole, found);
    return this.#most >= trailing;
  }

  ofRows(): number {
    const { trailing } = this.#header;
    return this.#whole === this.#most ? Math.min(this.#whole, trailing) : trailing;
  }
}

/**
 * How many trailing cells whole rows of a CSV file have. Only where its header ends with a delimiter the rows are looked at, up to the first
 * one that ends with as many: where the header alone does, the whole file is read once more.
 */
export async function trailingCellsOfRows(
  reading: Pick<Reading, 'chunks' | 'lineEnds'>,
  { header, delimiter }: Pick<DialectDecision, 'header' | 'delimiter'>,
): Promise<number> {
  const trailing = trailingCells(header.cells);
  if (trailing === 0) return 0;
  const found = new TrailingCells(rowWidth(header.cells, trailing));
  try {
    for await (const { row, cells } of recordsOf(reading, delimiter))
      if (row > header.row && !isNoRow(cells, header.cells) && found.take(cells)) return trailing;
  } catch (error) {
    // The reading that follows meets it, too, and says what it has read until then.
    if (!(error instanceof Refusal)) throw error;
  }
  return found.ofRows();
}

/** A blank record, or the header once more: nobody reads it as a row. */
function isNoRow(cells: readonly string[], header: readonly string[]): boolean {
  return cells.every(isEmpty) || (cells.length === header.length && cells.every((cell, at) => cell === header[at]));
}

async function* recordsOf(
  { chunks, lineEnds }: Pick<Reading, 'chunks' | 'lineEnds'>,
  delimiter: string,
): AsyncGenerator<CsvRecord> {
  const reader = new CsvReader(delimiter, lineEnds);
  for await (const chunk of chunks()) yield* await reader.write(chunk);
  yield* await reader.end();
}
