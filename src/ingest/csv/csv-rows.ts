import { COLUMNS, REQUIRED_COLUMNS, type Column, type RawRow } from '../../domain/row.ts';
import { type CsvReader, type CsvRecord, requireNoSwallowedRows } from './csv-reader.ts';
import { headerName, type TableHeader } from '../profile/map-header.ts';
import {
  CutReferences,
  builtReference,
  plainReference,
  type ReferenceCell,
  nifProblem,
  normalNif,
} from '../invoice/identity.ts';
import { Refusal, note, rowError, LostRows, type LostRow, shorten } from '../findings.ts';
import {
  labelsOf,
  readColumns,
  CUT_CELL,
  cutColumn,
  hasWrongWidth,
  isEmpty,
  lackedCells,
  rowWidth,
  type RowWidth,
} from './table-header.ts';
import { ORIGINAL, READ_AS, parseReadAs } from '../../domain/read-as.ts';
import { originalCell } from '../../domain/text/escape-formula.ts';
import { NUMBER_COLUMNS, type FileFormat, type ReadColumn } from '../ingest-result.ts';
import { type Decided, RowCollector, type RowsOf } from '../reading.ts';
import { MOST_ROWS } from '../workbook/limits.ts';
import { WRONG_WIDTH, beforeSpreadsheet } from './original-cells.ts';
import { totalsLabel } from '../invoice/no-value.ts';

const NIF = COLUMNS.indexOf('merchant_nif');
const REF = COLUMNS.indexOf('invoice_ref');
const CUSTOMER = COLUMNS.indexOf('customer_name');
const TEXTS = (['merchant_legal_name', 'customer_name', 'description'] as const).map((column) =>
  COLUMNS.indexOf(column),
);
const NUMBERS = NUMBER_COLUMNS.map((column) => [column, COLUMNS.indexOf(column)] as const);

/** The reference of a record whose reference cell has an error: the cell would make another invoice. */
const UNUSABLE: ReferenceCell = plainReference(null);

/** Turns the records below the header of a CSV file or a sheet into rows, and collects evidence from them. */
export class CsvRows extends RowCollector {
  readonly #dialect: TableHeader;
  readonly #lost: LostRows;
  readonly #labels: Readonly<Record<Column, string>>;
  readonly #constants: readonly (string | undefined)[];
  readonly #identityFirst: boolean;
  readonly #width: RowWidth;
  readonly #read: readonly ReadColumn[];
  readonly #header: string;
  /** Null for the rows of a sheet, which has no delimiter. */
  readonly #delimiter: string | null;
  /** Used only for CSV files: a workbook marks each cell that is a number. */
  readonly #references = new CutReferences();
  #shortLast: number | null = null;
  #lastOfInvoice: { readonly record: CsvRecord; readonly row: RawRow } | null = null;
  #last = 0;
  #records = 0;

  constructor(reading: RowsOf, dialect: TableHeader, delimiter: string | null) {
    super(reading);
    this.#dialect = dialect;
    this.#labels = labelsOf(dialect);
    this.#lost = new LostRows(this.damage, this.#labels.invoice_ref);
    this.#constants = COLUMNS.map((column) => reading.options.constants?.[column]);
    this.#identityFirst = isIdentityFirst(dialect.map.indexes);
    this.#delimiter = delimiter;
    const width = rowWidth(dialect.header.cells);
    this.#width = delimiter === null ? { ...width, trailing: 0 } : width;
    this.#read = readColumns(dialect);
    this.#header = JSON.stringify(dialect.header.cells);
  }

  take(record: CsvRecord): void {
    this.#records += 1;
    const { header } = this.#dialect;
    if (this.#delimiter !== null) requireNoSwallowedRows(record, this.#delimiter, header.cells.length);
    if (record.row < header.row) return this.#checkPreamble(record);
    if (record.row === header.row) return;
    this.#shortLast = isShort(record.cells, this.#width) ? record.row : null;
    this.#lastOfInvoice = null;
    if (isBlank(record)) return;
    if (this.#isHeaderAgain(record)) return;
    this.reading.counts.rows += 1;
    this.#last = record.row;
    if (this.#dialect.map.own) this.#noteReadAs(record);
    const said = this.#dialect.map.own ? this.#asItWas(record) : record;
    const kind = this.#hasWrongWidth(said)
      ? null
      : this.skipped.kindOf(said.row, (header) => this.#valuesOf(said, header));
    if (kind === 'skipped') this.reading.counts.rowsWithoutInvoice += 1;
    else this.#takeRow(kind === null ? said : { ...said, errors: [...(said.errors ?? []), kind] }, record);
  }

  #valuesOf({ cells }: CsvRecord, header: string): readonly string[] {
    const { cells: headers } = this.#dialect.header;
    return headers.flatMap((cell, at) => (headerName(cell) === header ? [cells[at] ?? ''] : []));
  }

  /** `found` has the cells of this file. They are the evidence for its decimal mark, not those of the dropped file. */
  #takeRow(record: CsvRecord, found: CsvRecord): void {
    const cells = this.#dialect.map.indexes.map((index, column) => this.#cell(record, index, column));
    const nif = record.unusable?.includes('merchant_nif') === true ? null : normalNif(cells[NIF] ?? '');
    const reference = this.#reference(record, cells);
    if (nif === null || reference.problem !== null) return this.#withoutInvoice(record, cells, { nif, reference });
    const row = { row: record.row, ref: reference.text, nif, object: null, cells };
    if (record.errors !== undefined) this.damage.add(record.row, record.errors);
    if (this.#hasWrongWidth(record)) this.#damageRow(record);
    else this.#observe(found);
    // Corrections have few rows, and `lote_original` shows every cell that a spreadsheet changed.
    if (this.#delimiter !== null && !this.#dialect.map.own) this.#references.observe(row.ref);
    this.#lost.kept(row);
    this.#lastOfInvoice = { record, row };
    this.reading.writer.add(row);
  }

  end(ended: CsvReader['ended']): void {
    this.noteSkipped();
    // A sheet numbers its own rows; a CSV file fills one spreadsheet row per record.
    if ((this.#delimiter === null ? this.#last : this.#records) === MOST_ROWS) throw sheetFull(this.#last);
    if (ended === 'line') return;
    if (this.#shortLast !== null) {
      throw endsInside(this.#shortLast, null);
    }
    if (this.#last === 0) return;
    const last = ended === 'quote' ? null : this.#lastOfInvoice;
    const cut = cutColumn(last?.record.cells ?? [], this.#read);
    if (last === null || cut === null)
      return this.reading.findings.add(
        note(
          'info',
          CUT_CELL,
          `Row ${this.#last} is the last one and has no line end. That is common; if the file was cut short, its last cell is incomplete`,
          this.#last,
        ),
      );
    // A cut identity is another identity: the row may be a line of an invoice that looks complete without it.
    if (cut.column === 'invoice_ref' || cut.column === 'merchant_nif') throw endsInside(this.#last, cut.header);
    const message =
      'the file ends here without a line end, which its other lines have, so that the value may have lost its last digits. Export the file again, or end its last line if the value is whole';
    return this.damage.add(this.#last, [rowError(this.#last, cut.header, CUT_CELL, message)]);
  }

  decide(format: FileFormat): Decided {
    const lostReferences = this.#lost.references();
    return this.decided({ format, labels: this.#labels, lostReferences, areReferencesCut: this.#references.areCut });
  }

  #reference(record: CsvRecord, cells: readonly (string | null)[]): ReferenceCell {
    const { referenceParts } = this.#dialect.map;
    const { reference } = this.reading.options;
    if (this.#constants[REF] !== undefined) return plainReference(cells[REF]);
    if (record.unusable?.includes('invoice_ref') === true) return UNUSABLE;
    if (reference === undefined) return plainReference(cells[REF]);
    return builtReference(
      referenceParts.map((index) => this.#cell(record, index, REF) ?? ''),
      reference,
    );
  }

  /** Restores the cells that a spreadsheet changed, with errors, so that the row stays with its invoice. */
  #asItWas(record: CsvRecord): CsvRecord {
    const { original } = this.#dialect.map;
    if (original < 0 || this.#hasWrongWidth(record)) return record;
    const given = { row: record.row, cells: record.cells.map(originalCell) };
    const { cells, errors, kept, marks } = beforeSpreadsheet(given, this.#read, record.cells[original] ?? '');
    const hadWrongWidth = marks?.some(([code]) => code === WRONG_WIDTH) === true;
    if (!hadWrongWidth) for (const one of kept) this.evidence.observeKept(record.row, this.#labels[one.column], one);
    if (errors.length === 0 && !hadWrongWidth) return record;
    return { ...record, cells, hadWrongWidth, errors: [...(record.errors ?? []), ...errors] };
  }

  #cell(record: CsvRecord, index: number, column: number): string | null {
    const cell = this.#constants[column] ?? record.cells[index];
    if (cell === undefined) return null;
    // Includes number columns: a minus that spreadsheets do not write (`-１００`) looks like a formula to the writer of
    // the corrections.
    return this.#dialect.map.own ? originalCell(cell) : cell;
  }

  #observe(record: CsvRecord): void {
    for (const [column, at] of NUMBERS) {
      const cell = this.#cell(record, this.#dialect.map.indexes[at] ?? -1, at);
      if (cell !== null) this.evidence.observe(record.row, this.#labels[column], cell);
    }
  }

  /** A title has few cells. Refuses a full row, because Lote would otherwise drop it silently. */
  #checkPreamble(record: CsvRecord): void {
    const { row, cells } = record;
    if (cells.filter((cell) => cell.trim() !== '').length < REQUIRED_COLUMNS.length) return;
    const message = `Row ${row}: expected nothing but titles above the header in row ${this.#dialect.header.row}, found a full row. Move the header to the top, or split the file`;
    throw new Refusal('rows-above-header', message, { row });
  }

  #isHeaderAgain(record: CsvRecord): boolean {
    if (record.cells[0] !== this.#dialect.header.cells[0] || JSON.stringify(record.cells) !== this.#header)
      return false;
    const { row } = record;
    this.reading.findings.add(note('info', 'header-repeated', `Row ${row} repeats the header and was left out`, row));
    return true;
  }

  /** In a shifted row, the reference cell may hold a text of another column, unless the reference comes first. */
  #damageRow(record: CsvRecord): void {
    const { row } = record;
    this.damage.add(row, [this.#widthFinding(record)]);
    if (!this.#identityFirst) this.#lost.lose(shiftedRow(row));
  }

  #noteReadAs({ row, cells, wasText = true }: CsvRecord): void {
    const text = cells[this.#dialect.map.readAs]?.trim() ?? '';
    if (text === '') return;
    if (wasText && parseReadAs(text).form === 'workbook') throw savedAsText(row);
    this.noteReadAs(row, text);
  }

  #hasWrongWidth({ cells, hadWrongWidth }: CsvRecord): boolean {
    return hadWrongWidth === true || hasWrongWidth(cells, this.#width);
  }

  #widthFinding({ row, cells, hadWrongWidth }: CsvRecord) {
    const message =
      hadWrongWidth === true
        ? `the row did not have as many cells as the header when it was dropped before (${ORIGINAL}), so its values may stand in wrong columns. Put each value into its column, and empty ${ORIGINAL} in this row`
        : this.#cellsExpected(cells);
    return rowError(row, null, WRONG_WIDTH, message);
  }

  #cellsExpected(found: readonly string[]): string {
    const { columns, trailing } = this.#width;
    if (this.#delimiter === null)
      return `found ${found.slice(columns).filter((cell) => !isEmpty(cell)).length} cells to the right of the header, which belong to no column. Give them a title, or delete them`;
    return `expected ${columns + trailing} cells as in the header${trailing > 0 ? ', empty ones at its end included' : ''}, found ${found.length}. Look for a cell that is missing, or for a delimiter inside a text that is not quoted`;
  }

  #withoutInvoice(
    record: CsvRecord,
    cells: readonly (string | null)[],
    { nif, reference }: { readonly nif: string | null; readonly reference: ReferenceCell },
  ): void {
    const { counts, findings } = this.reading;
    const { row } = record;
    counts.rowsWithoutInvoice += 1;
    const total = reference === UNUSABLE ? null : totalsLabel(record.cells, cells);
    if (total !== null) {
      const message = `Row ${row} ("${shorten(total, 40)}") is a totals row and not part of an invoice`;
      return findings.add(note('warning', 'totals-row', message, row));
    }
    this.#requireNoHeader(record, cells);
    counts.rowsLost += 1;
    const shifted = this.#hasWrongWidth(record);
    if (shifted) findings.add(this.#widthFinding(record));
    const customer = cells[CUSTOMER]?.trim() ?? '';
    const what = reference === UNUSABLE ? 'has no usable reference' : 'has no reference';
    const isShifted = shifted && !this.#identityFirst;
    this.#lost.lose(isShifted ? shiftedRow(row) : { row, ref: reference.text, nif, customer, what });
    for (const error of record.errors ?? []) findings.add(error);
    if (record.unusable?.includes('merchant_nif') !== true)
      this.#addProblem(row, 'merchant_nif', nifProblem(cells[NIF] ?? ''));
    if (reference !== UNUSABLE) this.#addProblem(row, 'invoice_ref', reference.problem);
  }

  #addProblem(row: number, column: Column, problem: { readonly code: string; readonly message: string } | null): void {
    if (problem === null) return;
    this.reading.findings.add(rowError(row, this.#labels[column], problem.code, problem.message));
  }

  /** Words in number columns mean that a second export begins here, whose columns may have another order. */
  #requireNoHeader({ row }: CsvRecord, cells: readonly (string | null)[]): void {
    const words = NUMBERS.filter(([, at]) => /^\W*\p{L}{3}/u.test(cells[at] ?? '')).length;
    if (words < NUMBERS.length) return;
    const message = `Row ${row}: expected an invoice line, found a second header that differs from the one in row ${this.#dialect.header.row}. Split the file into one file for each header`;
    throw new Refusal('header-second', message, { row });
  }
}

/** Saving a workbook as text loses its hidden rows, its merged cells and the decimals that it does not show. */
function savedAsText(row: number): Refusal {
  const message = `Row ${row}: expected corrections of a workbook as a workbook, found that they were saved as text, which shows no hidden rows, no merged cells and not all decimals. Correct corrections.xlsx, save it as a workbook (XLSX or ODS) and drop that file`;
  return new Refusal('corrections-saved-as-text', message, { row, column: READ_AS });
}

/** A spreadsheet program drops the rows that do not fit, and its file does not show the loss. */
function sheetFull(row: number): Refusal {
  const message = `Row ${row} is row ${MOST_ROWS.toLocaleString('en')}, the last one that a spreadsheet program holds, so more rows may be missing, also of the last invoice. Export the file again, in parts that are shorter, and do not save them in a spreadsheet program`;
  return new Refusal('truncated', message, { row });
}

function endsInside(row: number, column: string | null): Refusal {
  const place = column === null ? `Row ${row}` : `Row ${row}, ${column}`;
  const message = `${place}: the file ends in the middle of this row, so more may be missing. Export the file again, or end its last line if it is whole`;
  return new Refusal('truncated', message, { row });
}

/** No cell of a shifted row is sure to be in its own column. */
function shiftedRow(row: number): LostRow {
  return { row, ref: '', nif: null, customer: '', what: 'has another number of cells than the header' };
}

function isIdentityFirst(indexes: readonly number[]): boolean {
  const texts = TEXTS.map((at) => indexes[at] ?? -1).filter((index) => index >= 0);
  return Math.max(indexes[NIF] ?? -1, indexes[REF] ?? -1) < Math.min(...texts, Infinity);
}

/** A line without a delimiter and without text is blank and lacks no cells. */
function isShort(cells: readonly string[], width: RowWidth): boolean {
  return lackedCells(cells, width) > 0 && (cells.length > 1 || !isEmpty(cells[0]));
}

/** A cell without a value (a formula that no program calculated) makes the record a row, which must not be lost. */
function isBlank({ cells, unusable }: CsvRecord): boolean {
  return (unusable?.length ?? 0) === 0 && cells.every((cell) => cell.trim() === '');
}
