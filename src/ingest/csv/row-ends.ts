import type { Reading } from '../reading.ts';
import { Refusal } from '../refusal.ts';
import { CsvReader } from './csv-reader.ts';
import type { CsvRecord } from './csv-reader.ts';
import type { DialectDecision } from './decide-dialect.ts';
import { isEmpty, rowWidth, unnamedIn, type RowWidth } from './row-width.ts';

/**
 * With how many delimiters behind the last title the rows of a text end. Some programs end the header alone so: a row that has a last cell and nothing
 * behind it is whole and shows it, unless another row has more. What the rows do not show, the header says: a row that may lack a cell is not sent.
 */
class RowEnds {
  readonly #header: RowWidth;
  /** Cells behind the last title: most of any row that ends with a delimiter, and of one that has its last cell. */
  #most = 0;
  #whole = -1;

  constructor(header: RowWidth) {
    this.#header = header;
  }

  /** True once no other row can say more. */
  take(cells: readonly string[]): boolean {
    const { width, unnamed } = this.#header;
    const behind = cells.length - width;
    if (behind < 0) return false;
    if (isEmpty(cells.at(-1))) this.#most = Math.max(this.#most, behind);
    if (!isEmpty(cells[width - 1]) && cells.slice(width).every(isEmpty)) this.#whole = Math.max(this.#whole, behind);
    return this.#most >= unnamed;
  }

  unnamed(): number {
    const { unnamed } = this.#header;
    return this.#whole === this.#most ? Math.min(this.#whole, unnamed) : unnamed;
  }
}

/**
 * How many cells whole rows of a CSV file have behind the last title. Only where its header ends with a delimiter the rows are looked at, up to the first
 * one that ends with as many: where the header alone does, the whole file is read once more.
 */
export async function unnamedOfRows(
  reading: Pick<Reading, 'chunks' | 'lineEnds'>,
  { header, delimiter }: Pick<DialectDecision, 'header' | 'delimiter'>,
): Promise<number> {
  const unnamed = unnamedIn(header.cells);
  if (unnamed === 0) return 0;
  const ends = new RowEnds(rowWidth(header.cells, unnamed));
  try {
    for await (const { row, cells } of recordsOf(reading, delimiter))
      if (row > header.row && !isNoRow(cells, header.cells) && ends.take(cells)) return unnamed;
  } catch (error) {
    // The reading that follows meets it, too, and says what it has read until then.
    if (!(error instanceof Refusal)) throw error;
  }
  return ends.unnamed();
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
