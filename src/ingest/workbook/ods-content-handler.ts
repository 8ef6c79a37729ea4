import { LONGEST_TOKEN, MOST_COLUMNS, MOST_MERGED, MOST_SHEETS, damaged, tooLarge } from './limits.ts';
import { parseNumberFormat, type NumberFormat } from './number-format.ts';
import type { OdsStyles } from './ods-styles.ts';
import { SheetBuilder } from './sheet-builder.ts';
import type { CellKind, SheetCell, SheetRow } from './workbook.ts';
import type { XmlHandler } from './xml-reader.ts';

type Attributes = Readonly<Record<string, string>>;

interface Table {
  readonly name: string;
  readonly sheet: SheetBuilder;
  hidden: boolean;
}

const CELL = /^table:(?:covered-)?table-cell$/;
/** The elements of a sheet. A cell may contain other elements with this prefix, such as `table:detective`. */
const PART_OF_A_TABLE = /^table:(?:table(?:-|$)|covered-)/;

/** Turns the tags of `content.xml` into the rows of all its sheets. */
export class ContentHandler implements XmlHandler {
  readonly tables: Table[] = [];
  readonly #styles: OdsStyles;
  readonly #packedBytes: number;
  readonly #text = new CellText();
  #table: Table | null = null;
  /** The cell style of each column, and the position behind the last column. */
  #columnStyles: (string | undefined)[] = [];
  #columnsEnd = 0;
  #next = 1;
  #row: Attributes | null = null;
  #spans: { readonly column: number; readonly columns: number; readonly rows: number }[] = [];
  #column = 0;
  #cell: Attributes | null = null;
  /** Depth inside a comment or a drawing, whose text does not belong to the cell. */
  #aside = 0;

  constructor(styles: OdsStyles, packedBytes: number) {
    this.#styles = styles;
    this.#packedBytes = packedBytes;
  }

  /** Returns the new rows of each table. */
  take(): readonly Iterable<SheetRow>[] {
    return this.tables.map(({ sheet }) => sheet.take());
  }

  open(name: string, attributes: Attributes): void {
    if (this.#aside > 0 || isAside(name)) this.#aside += 1;
    else if (this.#cell !== null) this.#openInCell(name, attributes);
    else if (CELL.test(name)) this.#openCell(attributes);
    else if (name === 'table:table-row') this.#openRow(attributes);
    else if (name === 'table:table-column') this.#openColumn(attributes);
    else if (name === 'table:table') this.#openTable(attributes);
    // Such a table is a saved copy of a sheet of another file.
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
    this.#table = { name: attributes['table:name'] ?? '', sheet: new SheetBuilder(this.#packedBytes), hidden };
    this.tables.push(this.#table);
    this.#columnStyles = [];
    this.#columnsEnd = 0;
    this.#next = 1;
  }

  #openColumn(attributes: Attributes): void {
    const repeat = repeatOf(attributes['table:number-columns-repeated']);
    const at = this.#columnsEnd;
    if (at >= MOST_COLUMNS) throw tooLarge('columns', MOST_COLUMNS);
    this.#columnsEnd += repeat;
    const end = Math.min(this.#columnsEnd, MOST_COLUMNS);
    for (let column = at; column < end; column += 1)
      this.#columnStyles[column] = attributes['table:default-cell-style-name'];
    if (this.#isHidden(attributes)) this.#table?.sheet.hideColumns(at, at + repeat - 1);
  }

  #openRow(attributes: Attributes): void {
    this.#table?.sheet.beginRow();
    this.#row = attributes;
    this.#spans = [];
    this.#column = 0;
  }

  /** The end of an inner cell would end the outer one, and the rest would be lost. */
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
      attributes['table:style-name'] ?? this.#row['table:default-cell-style-name'] ?? this.#columnStyles[this.#column];
    const cell = odsCell(attributes, this.#text.end(), this.#styles.format(style));
    if (cell !== null) this.#table?.sheet.put(this.#column, cell, repeat);
    this.#span(attributes);
    this.#column += repeat;
  }

  #span(attributes: Attributes): void {
    const rows = repeatOf(attributes['table:number-rows-spanned']);
    const columns = repeatOf(attributes['table:number-columns-spanned']);
    if (rows === 1 && columns === 1) return;
    if (this.#spans.length >= MOST_MERGED) throw tooLarge('merged cells', MOST_MERGED);
    this.#spans.push({ column: this.#column, columns, rows });
  }

  #closeRow(): void {
    const attributes = this.#row;
    this.#row = null;
    if (attributes === null || this.#table === null) return;
    const { sheet } = this.#table;
    const repeat = repeatOf(attributes['table:number-rows-repeated']);
    // Each row that a repeated row stands for has the same merged cells.
    const lastRow = this.#next + (sheet.hasCells ? repeat : 1) - 1;
    for (const { column, columns, rows } of this.#spans)
      sheet.merge({
        firstRow: this.#next,
        lastRow: lastRow + rows - 1,
        firstColumn: column,
        lastColumn: column + columns - 1,
      });
    sheet.endRow(this.#next, this.#isHidden(attributes), repeat);
    this.#next += repeat;
  }

  #isHidden(attributes: Attributes): boolean {
    const visibility = attributes['table:visibility'];
    const isHidden = visibility === 'collapse' || visibility === 'filter';
    return isHidden || this.#styles.isHidden(attributes['table:style-name']);
  }
}

function isAside(name: string): boolean {
  return name === 'office:annotation' || name.startsWith('draw:') || name === 'table:tracked-changes';
}

function repeatOf(value: string | undefined): number {
  if (value === undefined) return 1;
  const repeat = Number(value);
  if (Number.isSafeInteger(repeat) && repeat >= 1) return repeat;
  throw damaged('it repeats a cell or a row less than once');
}

/** The text that an ODS cell shows: one line per paragraph. ODS writes white space as elements. */
class CellText {
  #paragraphs = 0;
  #depth = 0;
  #text = '';

  begin(): void {
    this.#paragraphs = 0;
    this.#depth = 0;
    this.#text = '';
  }

  open(name: string, attributes: Attributes): void {
    if (name === 'text:p' || name === 'text:h') {
      if (this.#paragraphs > 0) this.#add('\n');
      this.#paragraphs += 1;
      this.#depth += 1;
    } else if (name === 'text:s')
      this.#add(' '.repeat(Math.min(Number(attributes['text:c'] ?? 1) || 1, LONGEST_TOKEN)));
    else if (name === 'text:tab') this.#add('\t');
    else if (name === 'text:line-break') this.#add('\n');
  }

  close(name: string): void {
    if (name === 'text:p' || name === 'text:h') this.#depth -= 1;
  }

  text(text: string): void {
    if (this.#depth > 0) this.#add(text.replace(/[ \t\r\n]+/g, ' '));
  }

  end(): string {
    return this.#text;
  }

  #add(text: string): void {
    this.#text += text;
    if (this.#text.length > LONGEST_TOKEN) throw tooLarge('characters in one cell', LONGEST_TOKEN);
  }
}

/** Texts that LibreOffice shows for a formula that failed, including the names that Excel uses. */
const ERROR = /^(?:Err:\d+|#[A-Z/0!?]+)$/;

function odsCell(attributes: Attributes, shown: string, format: NumberFormat): SheetCell | null {
  const formula = attributes['table:formula'] !== undefined;
  const made = (kind: CellKind, text: string, of: NumberFormat | null = null) => ({ kind, text, formula, format: of });
  const value = attributes['office:value'] ?? '';
  if (attributes['calcext:value-type'] === 'error' || (formula && ERROR.test(shown))) return made('error', shown);
  // LibreOffice writes a boolean that came from XLSX as the number of a formula.
  if (formula && /^\p{L}+$/u.test(shown) && attributes['office:value-type'] === 'float') return made('boolean', shown);
  switch (attributes['office:value-type']) {
    case 'float':
      return made('number', value, format);
    case 'percentage':
      return made('number', value, format.kind === 'general' ? parseNumberFormat('0.00%') : format);
    case 'currency':
      return made('number', value, withCurrency(format, attributes['office:currency'] ?? ''));
    case 'date':
      return made('date', attributes['office:date-value'] ?? shown);
    case 'time':
      return made('date', attributes['office:time-value'] ?? shown);
    case 'boolean':
      return made('boolean', attributes['office:boolean-value'] === 'true' ? 'TRUE' : 'FALSE');
    case 'string': {
      const text = attributes['office:string-value'] ?? shown;
      return text === '' && !formula ? null : made('text', text, format);
    }
    default:
      if (formula) return made('missing', '');
      return shown === '' ? null : made('text', shown);
  }
}

/** Some programs name the currency only in the cell, not in a style. */
function withCurrency(format: NumberFormat, currency: string): NumberFormat {
  return format.kind === 'general' && currency !== ''
    ? parseNumberFormat(`General "${currency.replaceAll('"', '')}"`)
    : format;
}
