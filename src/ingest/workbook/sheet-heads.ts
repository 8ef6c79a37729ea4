import type { CsvRecord } from '../csv/csv-reader.ts';
import { HEADER_WITHIN } from '../profile/found-header.ts';
import { MOST_CHARACTERS_OF_HEADS, tooLarge } from './limits.ts';
import type { SheetRow } from './workbook.ts';

/** Collects the first rows of each sheet as texts, bounded over all sheets of a workbook. */
export class SheetHeads {
  readonly #heads = new Map<number, CsvRecord[]>();
  #characters = 0;

  /** Adds a row to the sheet of this place in the file; false when its head is whole. @throws Refusal `workbook-too-large` */
  add(sheet: number, row: SheetRow): boolean {
    const head = this.#heads.get(sheet) ?? [];
    this.#heads.set(sheet, head);
    if (head.length >= HEADER_WITHIN) return false;
    const cells = shownCells(row);
    for (const cell of cells) this.#characters += cell.length + 1;
    if (this.#characters > MOST_CHARACTERS_OF_HEADS)
      throw tooLarge('characters in the first rows of its sheets', MOST_CHARACTERS_OF_HEADS);
    head.push({ row: row.row, cells });
    return true;
  }

  of(sheet: number): readonly CsvRecord[] {
    return this.#heads.get(sheet) ?? [];
  }
}

/** The cells of a row as texts, up to the last one with content. */
export function shownCells({ cells }: SheetRow): readonly string[] {
  return Array.from(cells, (cell) => cell?.text ?? '');
}
