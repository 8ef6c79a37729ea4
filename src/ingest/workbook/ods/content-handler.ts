import { MOST_COLUMNS, MOST_MERGED, MOST_ROWS, MOST_SHEETS, damaged, tooLarge } from '../limits.ts';
import type { SheetSize } from '../sheet-size.ts';
import type { MergedRange, SheetCell, SheetRow } from '../workbook.ts';
import type { XmlHandler } from '../xml-reader.ts';
import { CellText } from './cell-text.ts';
import { ColumnStyles } from './column-styles.ts';
import { odsCell } from './ods-cell.ts';
import type { OdsStyles } from './ods-styles.ts';

type Attributes = Readonly<Record<string, string>>;

/** A sheet that has begun, by its place in the file. */
interface Table {
  readonly index: number;
  readonly name: string;
  hidden: boolean;
}

/** A row of a sheet, which may stand for several equal ones below each other. */
interface RepeatedRow {
  readonly table: Table;
  readonly repeat: number;
  readonly row: SheetRow;
}

const CELL = /^table:(?:covered-)?table-cell$/;
/** What sheets consist of; other elements with this prefix (`table:detective`) may stand in a cell. */
const PART_OF_A_TABLE = /^table:(?:table(?:-|$)|covered-)/;

/** Turns the tags of `content.xml` into the rows of all its sheets. */
export class ContentHandler implements XmlHandler {
  readonly tables: Table[] = [];
  readonly merged: (MergedRange & { readonly table: number })[] = [];
  readonly hiddenColumns: { first: number; last: number; table: number }[] = [];
  readonly #styles: OdsStyles;
  readonly #size: SheetSize;
  readonly #text = new CellText();
  #rows: RepeatedRow[] = [];
  #table: Table | null = null;
  #columns = new ColumnStyles();
  #next = 1;
  #row: Attributes | null = null;
  #cells: (SheetCell | undefined)[] = [];
  #spans: { readonly column: number; readonly columns: number; readonly rows: number }[] = [];
  #column = 0;
  #cell: Attributes | null = null;
  /** Inside a comment or a drawing, whose text is not the cell's. */
  #aside = 0;

  /** `styles`: those of the other part, to which this one adds its own. */
  constructor(styles: OdsStyles, size: SheetSize) {
    this.#styles = styles;
    this.#size = size;
  }

  /** Rows with content that are complete, and not yet taken. */
  take(): readonly RepeatedRow[] {
    const rows = this.#rows;
    this.#rows = [];
    this.#size.taken();
    return rows;
  }

  open(name: string, attributes: Attributes): void {
    if (this.#aside > 0 || isAside(name)) this.#aside += 1;
    else if (this.#cell !== null) this.#openInCell(name, attributes);
    else if (CELL.test(name)) this.#openCell(attributes);
    else if (name === 'table:table-row') this.#openRow(attributes);
    else if (name === 'table:table-column') this.#openColumn(attributes);
    else if (name === 'table:table') this.#openTable(attributes);
    // A sheet of another file whose values are kept here.
    else if (name === 'table:table-source' && this.#table !== null) this.#table.hidden = true;
    else if (this.#table === null) this.#styles.open(name, attributes);
  }

  close(name: string): void {
    if (this.#aside > 0) this.#aside -= 1;
    else if (CELL.test(name)) this.#closeCell();
    else if (this.#cell !== null) this.#text.close(name);
    else if (name === 'table:table-row') this.#closeRow();
    else if (name === 'table:table') this.#table = null;
    else if (this.#table === null) this.#styles.close(name);
  }

  text(text: string): void {
    if (this.#aside > 0) return;
    if (this.#cell !== null) this.#text.text(text);
    else if (this.#table === null) this.#styles.text(text);
  }

  #openTable(attributes: Attributes): void {
    if (this.#table !== null) throw damaged('one of its sheets holds another one');
    if (this.tables.length >= MOST_SHEETS) throw tooLarge('sheets', MOST_SHEETS);
    const hidden = this.#styles.isHidden(attributes['table:style-name']);
    this.#table = { index: this.tables.length, name: attributes['table:name'] ?? '', hidden };
    this.tables.push(this.#table);
    this.#size.beginSheet();
    this.#columns = new ColumnStyles();
    this.#next = 1;
  }

  #openColumn(attributes: Attributes): void {
    const repeat = repeatOf(attributes['table:number-columns-repeated']);
    const at = this.#columns.add(attributes['table:default-cell-style-name'], repeat);
    if (!isHidden(attributes) || this.#table === null) return;
    if (this.hiddenColumns.length >= MOST_COLUMNS) throw tooLarge('runs of hidden columns', MOST_COLUMNS);
    this.hiddenColumns.push({ first: at, last: at + repeat - 1, table: this.#table.index });
  }

  #openRow(attributes: Attributes): void {
    if (this.#row !== null) throw damaged('one of its rows holds another one');
    this.#row = attributes;
    this.#cells = [];
    this.#spans = [];
    this.#column = 0;
    this.#size.beginRow();
  }

  /** Its end would be taken for the end of the cell, and what follows it be lost. */
  #openInCell(name: string, attributes: Attributes): void {
    if (PART_OF_A_TABLE.test(name)) throw damaged('one of its cells holds a table');
    this.#text.open(name, attributes);
  }

  #openCell(attributes: Attributes): void {
    this.#cell = attributes;
    this.#text.begin();
  }

  #closeCell(): void {
    const attributes = this.#cell;
    this.#cell = null;
    if (attributes === null || this.#row === null) return;
    const repeat = repeatOf(attributes['table:number-columns-repeated']);
    const style =
      attributes['table:style-name'] ??
      this.#row['table:default-cell-style-name'] ??
      this.#columns.styleAt(this.#column);
    const cell = odsCell(attributes, this.#text.end(), this.#styles.format(style));
    if (cell !== null) {
      if (this.#column + repeat > MOST_COLUMNS) throw tooLarge('columns', MOST_COLUMNS);
      this.#size.addCells(cell.text, repeat);
      for (let at = 0; at < repeat; at += 1) this.#cells[this.#column + at] = cell;
    }
    this.#span(attributes);
    this.#column += repeat;
  }

  #span(attributes: Attributes): void {
    const rows = repeatOf(attributes['table:number-rows-spanned']);
    const columns = repeatOf(attributes['table:number-columns-spanned']);
    if (rows === 1 && columns === 1) return;
    if (this.merged.length + this.#spans.length >= MOST_MERGED) throw tooLarge('merged cells', MOST_MERGED);
    this.#spans.push({ column: this.#column, columns, rows });
  }

  /** Each of the rows that this one stands for has the same merged cells. */
  #merge(table: number, repeat: number): void {
    for (const { column, columns, rows } of this.#spans)
      this.merged.push({
        table,
        firstRow: this.#next,
        lastRow: this.#next + repeat - 1 + rows - 1,
        firstColumn: column,
        lastColumn: column + columns - 1,
      });
  }

  #closeRow(): void {
    const attributes = this.#row;
    this.#row = null;
    if (attributes === null || this.#table === null) return;
    const repeat = repeatOf(attributes['table:number-rows-repeated']);
    const hasContent = this.#cells.length > 0;
    this.#merge(this.#table.index, hasContent ? repeat : 1);
    if (hasContent) {
      this.#size.endRow(this.#cells.length, repeat);
      if (this.#next + repeat - 1 > MOST_ROWS) throw tooLarge('rows', MOST_ROWS);
      const row = { row: this.#next, hidden: isHidden(attributes), cells: this.#cells };
      this.#rows.push({ table: this.#table, repeat, row });
    }
    this.#next += repeat;
  }
}

function isAside(name: string): boolean {
  return name === 'office:annotation' || name.startsWith('draw:') || name === 'table:tracked-changes';
}

function isHidden(attributes: Attributes): boolean {
  const visibility = attributes['table:visibility'];
  return visibility === 'collapse' || visibility === 'filter';
}

function repeatOf(value: string | undefined): number {
  if (value === undefined) return 1;
  const repeat = Number(value);
  if (Number.isSafeInteger(repeat) && repeat >= 1) return repeat;
  throw damaged('it repeats a cell or a row less than once');
}
