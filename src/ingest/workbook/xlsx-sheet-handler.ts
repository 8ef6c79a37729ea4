import { LONGEST_TOKEN, MOST_COLUMNS, damaged, tooLarge, MOST_BYTES_OF_TEXTS } from './limits.ts';
import { SheetBuilder } from './sheet-builder.ts';
import type { CellKind, MergedRange, SheetCell, SheetRow } from './workbook.ts';
import { isTrue, localName, type XmlHandler, readXml } from './xml-reader.ts';
import type { CellStyles } from './number-format.ts';
import type { ZipArchive } from './zip-archive.ts';

type Attributes = Readonly<Record<string, string>>;

/** The tables that the cells of a sheet refer to. */
export interface CellContext {
  readonly strings: readonly string[];
  readonly styles: CellStyles;
  readonly epoch: 1900 | 1904;
}

/** Turns the tags of a worksheet part into rows. */
export class SheetHandler implements XmlHandler {
  readonly sheet: SheetBuilder;
  readonly #context: CellContext;
  readonly #inline = new RichText();
  readonly #arrays = new ArrayFormulas();
  #row = 0;
  #hidden = false;
  /** True if the sheet hides rows that have no height of their own. */
  #hidesRows = false;
  #column = -1;
  #attributes: Attributes = {};
  #formula = false;
  #value: string | null = null;
  #isInline = false;
  #inValue = false;
  #inCell = false;

  constructor(context: CellContext, packedBytes: number) {
    this.#context = context;
    this.sheet = new SheetBuilder(packedBytes);
  }

  take(): Iterable<SheetRow> {
    return this.sheet.take();
  }

  open(name: string, attributes: Attributes): void {
    const local = localName(name);
    if (this.#inCell) return this.#openInCell(local, attributes);
    if (local === 'c') return this.#openCell(attributes);
    if (local === 'row') return this.#openRow(attributes);
    if (local === 'mergeCell') this.#merge(attributes['ref'] ?? '');
    if (local === 'sheetFormatPr')
      this.#hidesRows = isTrue(attributes['zeroHeight']) || isZero(attributes['defaultRowHeight']);
    if (local === 'col' && (isTrue(attributes['hidden']) || isZero(attributes['width'])))
      this.sheet.hideColumns(Number(attributes['min']) - 1, Number(attributes['max']) - 1);
  }

  close(name: string): void {
    const local = localName(name);
    if (local === 'v') this.#inValue = false;
    else if (local === 'c') this.#closeCell();
    else if (local === 'row') this.sheet.endRow(this.#row, this.#hidden);
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

  #openRow(attributes: Attributes): void {
    const row = attributes['r'] === undefined ? this.#row + 1 : Number(attributes['r']);
    if (!Number.isSafeInteger(row) || row <= this.#row) throw damaged(`row ${this.#row} is followed by another one`);
    this.sheet.beginRow();
    this.#row = row;
    const height = attributes['ht'];
    this.#hidden = isTrue(attributes['hidden']) || isZero(height) || (this.#hidesRows && height === undefined);
    this.#column = -1;
  }

  #openCell(attributes: Attributes): void {
    const at = attributes['r'];
    const place = at === undefined ? { row: this.#row, column: this.#column + 1 } : placeOf(at);
    if (place === null || place.row !== this.#row || place.column <= this.#column)
      throw damaged(`row ${this.#row} holds cells of another row, or one cell twice`);
    this.#column = place.column;
    this.#attributes = attributes;
    this.#inCell = true;
    this.#formula = this.#arrays.covers(place.row, place.column);
    this.#value = null;
    this.#isInline = false;
  }

  #openInCell(local: string, attributes: Attributes): void {
    if (local === 'c' || local === 'row') throw damaged(`row ${this.#row} has a cell that holds another one`);
    if (local === 'f') {
      this.#formula = true;
      if (/^(?:array|dataTable)$/.test(attributes['t'] ?? ''))
        this.#arrays.begin(this.#row, this.#column, attributes['ref']);
    } else if (local === 'v') {
      this.#inValue = true;
      this.#value = '';
    } else if (local === 'is') {
      this.#isInline = true;
      this.#inline.begin();
    } else if (this.#isInline) this.#inline.open(local);
  }

  #closeCell(): void {
    this.#inCell = false;
    const cell = this.#cell();
    if (cell !== null) this.sheet.put(this.#column, cell);
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
    const isDate = this.#context.styles(style).kind === 'date';
    const date = isDate ? serialDate(Number(raw), this.#context.epoch) : null;
    return date === null ? this.#made('number', raw.trim()) : this.#made('date', date);
  }

  #shared(raw: string): SheetCell | null {
    const text = this.#context.strings[/^\s*\d+\s*$/.test(raw) ? Number(raw) : -1];
    if (text === undefined) throw damaged(`row ${this.#row} names a text that the workbook does not have`);
    return text === '' && !this.#formula ? null : this.#made('text', text);
  }

  #made(kind: CellKind, text: string): SheetCell {
    const format = this.#context.styles(this.#attributes['s']);
    return { kind, text, format, formula: this.#formula };
  }

  #merge(ref: string): void {
    const range = rangeOf(ref);
    if (range === null) throw damaged('it merges cells that no sheet has');
    this.sheet.merge(range);
  }
}

/** Returns true for a height in points or width in characters that shows nothing: `0`, `0.00`, or slightly more. */
function isZero(size: string | undefined): boolean {
  return size !== undefined && Number.parseFloat(size) < 0.5;
}

/** The cells that array formulas and data tables fill. Only the first of these cells names the formula. */
class ArrayFormulas {
  /** For each column, the last row that a formula fills. */
  readonly #until: number[] = [];

  /** `reference` is the range that the formula fills; undefined for a formula of one cell. */
  begin(row: number, column: number, reference: string | undefined): void {
    if (reference === undefined) return;
    const range = rangeOf(reference);
    if (range === null || range.firstRow !== row || range.firstColumn !== column)
      throw damaged(`a formula in row ${row} fills cells that do not begin with its own`);
    const { lastRow, lastColumn } = range;
    if (lastColumn >= MOST_COLUMNS) throw tooLarge('columns', MOST_COLUMNS);
    if (lastRow === row && lastColumn === column) return;
    for (let at = column; at <= lastColumn; at += 1) {
      if (this.covers(row, at)) throw damaged(`a formula in row ${row} fills cells of another one`);
      this.#until[at] = lastRow;
    }
  }

  covers(row: number, column: number): boolean {
    return row <= (this.#until[column] ?? 0);
  }
}

const REFERENCE = /^([A-Z]{1,3})([1-9]\d{0,6})$/;

/** Reads a reference: `B5` is row 5, column 1 (from 0). */
function placeOf(reference: string): { readonly row: number; readonly column: number } | null {
  const [, letters = '', digits = ''] = REFERENCE.exec(reference) ?? [];
  if (letters === '') return null;
  let column = 0;
  for (const letter of letters) column = column * 26 + letter.charCodeAt(0) - 64;
  return { row: Number(digits), column: column - 1 };
}

function rangeOf(reference: string): MergedRange | null {
  const [from = '', to = from] = reference.split(':', 2);
  const first = placeOf(from);
  const last = placeOf(to);
  if (first === null || last === null) return null;
  return { firstRow: first.row, lastRow: last.row, firstColumn: first.column, lastColumn: last.column };
}

const DAY = 86_400;

/** Converts a day number to ISO 8601, or null. Day 60 is 29 February 1900, which never was; 1904 counts from 0. */
export function serialDate(serial: number, epoch: 1900 | 1904): string | null {
  const days = Math.floor(serial);
  if (!(serial >= 0) || days > 2_958_465) return null;
  const seconds = Math.round((serial - days) * DAY);
  const time = new Date(Math.min(seconds, DAY - 1) * 1000).toISOString().slice(11, 19);
  if (days === 0 && seconds > 0 && epoch === 1900) return time;
  if (epoch === 1900 && days === 60) return '1900-02-29';
  const first = epoch === 1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, days < 60 ? 31 : 30);
  const date = new Date(first + days * DAY * 1000).toISOString().slice(0, 10);
  return seconds === 0 ? date : `${date}T${time}`;
}

/** A string in memory, besides its characters. */
const BYTES_OF_A_TEXT = 16;

/** Reads the texts of `sharedStrings.xml`, which cells name by number. Without that part, texts are in the cells. */
export async function readSharedStrings(
  archive: ZipArchive,
  part: string | null,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const texts: string[] = [];
  if (part === null || !archive.has(part)) return texts;
  const rich = new RichText();
  let size = 0;
  await readXml(part, archive.chunks(part, signal), {
    open(name) {
      const local = localName(name);
      if (local === 'si') rich.begin();
      else rich.open(local);
    },
    close(name) {
      const local = localName(name);
      if (local !== 'si') return rich.close(local);
      const text = Buffer.from(rich.end());
      size += text.length + BYTES_OF_A_TEXT;
      if (size > MOST_BYTES_OF_TEXTS) throw tooLarge('bytes of different texts', MOST_BYTES_OF_TEXTS);
      // A copy of its own: a text that the parser has joined would keep its pieces.
      texts.push(text.toString());
    },
    text: (text) => rich.text(text),
  });
  return texts;
}

const ESCAPED = /_x([0-9A-Fa-f]{4})_/g;

/** The text of a string item: all its runs, without the phonetic runs that are printed above other text. */
class RichText {
  #text = '';
  #collecting = false;
  #phonetic = 0;

  begin(): void {
    this.#text = '';
    this.#collecting = false;
    this.#phonetic = 0;
  }

  open(local: string): void {
    if (local === 'rPh') this.#phonetic += 1;
    this.#collecting = local === 't' && this.#phonetic === 0;
  }

  close(local: string): void {
    if (local === 'rPh') this.#phonetic -= 1;
    if (local === 't') this.#collecting = false;
  }

  text(text: string): void {
    if (!this.#collecting) return;
    this.#text += text;
    if (this.#text.length > LONGEST_TOKEN) throw tooLarge('characters in one cell', LONGEST_TOKEN);
  }

  end(): string {
    return unescaped(this.#text);
  }
}

/** XLSX writes characters that XML does not allow in the form `_x000D_`. */
function unescaped(text: string): string {
  return text.includes('_x')
    ? text.replace(ESCAPED, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    : text;
}
