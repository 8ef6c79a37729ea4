import { LONGEST_TOKEN, MOST_COLUMNS, MOST_MERGED, MOST_ROWS, damaged, tooLarge } from '../limits.ts';
import { serialDate } from '../serial-date.ts';
import type { SheetSize } from '../sheet-size.ts';
import type { CellKind, MergedRange, SheetCell, SheetRow } from '../workbook.ts';
import { localName } from '../xml-reader.ts';
import type { XmlHandler } from '../xml-reader.ts';
import { ArrayFormulas } from './array-formulas.ts';
import { placeOf, rangeOf } from './cell-place.ts';
import { isTrue } from './package-parts.ts';
import { RichText, unescaped } from './rich-text.ts';
import type { SharedStrings } from './shared-strings.ts';
import type { CellStyles } from './styles.ts';

/** What the cells of a sheet point to. */
export interface CellContext {
  readonly strings: SharedStrings;
  readonly styles: CellStyles;
  readonly epoch: 1900 | 1904;
}

/** Turns the tags of a worksheet part into rows. */
export class SheetHandler implements XmlHandler {
  readonly merged: MergedRange[] = [];
  readonly hiddenColumns: { first: number; last: number }[] = [];
  readonly #context: CellContext;
  readonly #size: SheetSize;
  readonly #inline = new RichText();
  readonly #arrays = new ArrayFormulas();
  #rows: SheetRow[] = [];
  #row = 0;
  #hidden = false;
  #cells: (SheetCell | undefined)[] = [];
  #column = -1;
  #attributes: Readonly<Record<string, string>> = {};
  #formula = false;
  #value: string | null = null;
  #isInline = false;
  #inValue = false;
  #inCell = false;

  constructor(context: CellContext, size: SheetSize) {
    this.#context = context;
    this.#size = size;
  }

  /** Rows with content that are complete, and not yet taken. */
  take(): readonly SheetRow[] {
    const rows = this.#rows;
    this.#rows = [];
    this.#size.taken();
    return rows;
  }

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    const local = localName(name);
    if (this.#inCell) return this.#openInCell(local, attributes);
    if (local === 'c') return this.#openCell(attributes);
    if (local === 'row') return this.#openRow(attributes);
    if (local === 'mergeCell') this.#merge(attributes['ref'] ?? '');
    if (local === 'col' && isTrue(attributes['hidden'])) this.#hideColumns(attributes);
  }

  close(name: string): void {
    const local = localName(name);
    if (local === 'v') this.#inValue = false;
    else if (local === 'c') this.#closeCell();
    else if (local === 'row') this.#closeRow();
    else if (this.#isInline) this.#inline.close(local);
  }

  text(text: string): void {
    if (this.#inValue) this.#addToValue(text);
    else if (this.#isInline) this.#inline.text(text);
  }

  #addToValue(text: string): void {
    this.#value = (this.#value ?? '') + text;
    if (this.#value.length > LONGEST_TOKEN) throw tooLarge('characters in one cell', LONGEST_TOKEN);
  }

  #hideColumns({ min, max }: Readonly<Record<string, string>>): void {
    if (this.hiddenColumns.length >= MOST_COLUMNS) throw tooLarge('runs of hidden columns', MOST_COLUMNS);
    this.hiddenColumns.push({ first: Number(min) - 1, last: Number(max) - 1 });
  }

  #openRow(attributes: Readonly<Record<string, string>>): void {
    const row = attributes['r'] === undefined ? this.#row + 1 : Number(attributes['r']);
    if (!Number.isSafeInteger(row) || row <= this.#row) throw damaged(`row ${this.#row} is followed by another one`);
    if (row > MOST_ROWS) throw tooLarge('rows', MOST_ROWS);
    if (this.#cells.length > 0) throw damaged(`row ${row} begins inside another one`);
    this.#row = row;
    this.#hidden = isTrue(attributes['hidden']);
    this.#size.beginRow();
    this.#column = -1;
  }

  #openCell(attributes: Readonly<Record<string, string>>): void {
    const at = attributes['r'];
    const place = at === undefined ? { row: this.#row, column: this.#column + 1 } : placeOf(at);
    if (place === null || place.row !== this.#row || place.column <= this.#column)
      throw damaged(`row ${this.#row} holds cells of another row, or one cell twice`);
    if (place.column >= MOST_COLUMNS) throw tooLarge('columns', MOST_COLUMNS);
    this.#column = place.column;
    this.#attributes = attributes;
    this.#inCell = true;
    this.#formula = this.#arrays.covers(place.row, place.column);
    this.#value = null;
    this.#isInline = false;
  }

  #openInCell(local: string, attributes: Readonly<Record<string, string>>): void {
    if (local === 'c' || local === 'row') throw damaged(`row ${this.#row} has a cell that holds another one`);
    if (local === 'f') this.#openFormula(attributes);
    else if (local === 'v') {
      this.#inValue = true;
      this.#value = '';
    } else if (local === 'is') {
      this.#isInline = true;
      this.#inline.begin();
    } else if (this.#isInline) this.#inline.open(local);
  }

  #openFormula({ t: type, ref }: Readonly<Record<string, string>>): void {
    this.#formula = true;
    if (type === 'array' || type === 'dataTable') this.#arrays.begin(this.#row, this.#column, ref);
  }

  #closeCell(): void {
    this.#inCell = false;
    const cell = this.#cell();
    if (cell === null) return;
    this.#size.addCells(cell.text);
    this.#cells[this.#column] = cell;
  }

  #closeRow(): void {
    if (this.#cells.length === 0) return;
    this.#size.endRow(this.#cells.length);
    this.#rows.push({ row: this.#row, hidden: this.#hidden, cells: this.#cells });
    this.#cells = [];
  }

  #cell(): SheetCell | null {
    const { t: type = 'n', s: style } = this.#attributes;
    const formula = this.#formula;
    const raw = this.#isInline ? this.#inline.end() : this.#value;
    const isText = type === 's' || type === 'str' || type === 'inlineStr';
    if (formula && (raw === null || (raw === '' && !isText))) return this.#made('missing', '');
    if (raw === null || (raw === '' && type !== 's' && !formula)) return null;
    if (type === 's') return this.#shared(raw);
    if (type === 'str') return this.#made('text', unescaped(raw));
    if (type === 'inlineStr') return this.#made('text', raw);
    if (type === 'b') return this.#made('boolean', isTrue(raw) ? 'TRUE' : 'FALSE');
    if (type === 'e') return this.#made('error', raw);
    if (type === 'd') return this.#made('date', raw);
    const format = this.#context.styles.format(style);
    if (format.kind !== 'date') return { kind: 'number', text: raw.trim(), format, formula };
    const date = serialDate(Number(raw), this.#context.epoch);
    return date === null ? { kind: 'number', text: raw.trim(), format, formula } : this.#made('date', date);
  }

  #shared(raw: string): SheetCell | null {
    const text = this.#context.strings.get(/^\s*\d+\s*$/.test(raw) ? Number(raw) : -1);
    if (text === undefined) throw damaged(`row ${this.#row} names a text that the workbook does not have`);
    return text === '' && !this.#formula ? null : this.#made('text', text);
  }

  #made(kind: CellKind, text: string): SheetCell {
    const format = this.#context.styles.format(this.#attributes['s']);
    return { kind, text, format, formula: this.#formula };
  }

  #merge(ref: string): void {
    const range = rangeOf(ref);
    if (range === null) throw damaged('it merges cells that no sheet has');
    if (this.merged.length >= MOST_MERGED) throw tooLarge('merged cells', MOST_MERGED);
    this.merged.push({
      firstRow: range.first.row,
      lastRow: range.last.row,
      firstColumn: range.first.column,
      lastColumn: range.last.column,
    });
  }
}
