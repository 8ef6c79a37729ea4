import { COLUMNS, REQUIRED_COLUMNS } from '../../domain/row.ts';
import type { Column } from '../../domain/row.ts';
import type { CsvRecord } from './csv-reader.ts';
import { authorColumns } from './author-columns.ts';
import { CutReferences } from './cut-references.ts';
import type { Damage } from '../encoding/damage.ts';
import type { DecimalEvidence } from './decimal-evidence.ts';
import type { TableHeader } from './table-header.ts';
import { labelOf, readColumns } from './table-header.ts';
import { ORIGINAL, READ_AS } from '../../domain/read-as.ts';
import { nifProblem, normalNif } from '../invoice/identity.ts';
import { NUMBER_COLUMNS } from '../ingest-result.ts';
import type { NumberColumn, ReadColumn } from '../ingest-result.ts';
import type { LostRow, LostRows } from '../lost-rows.ts';
import { discountFinding, isDiscount } from '../profile/discount.ts';
import { mapHeader } from '../profile/map-header.ts';
import type { Reading } from '../reading.ts';
import { builtReference, plainReference } from '../invoice/reference-cell.ts';
import type { ReferenceCell } from '../invoice/reference-cell.ts';
import { Refusal } from '../refusal.ts';
import { MOST_ROWS } from '../workbook/limits.ts';
import { shorten } from '../invoice/shorten.ts';
import { beforeSpreadsheet } from './original-cells.ts';
import { hasWrongWidth, isEmpty, lackedCells, rowWidth, type RowWidth } from './row-width.ts';
import { SwallowedRows } from './swallowed-rows.ts';
import { totalsLabel } from './totals-row.ts';

/** `'` that Lote put before a cell which a spreadsheet would execute; taken off in Lote's own files only. */
const FORMULA_START = /^'(?='*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20])/;
/** So many names of columns in one record, and it is a header. */
const HEADER_LIKE = 4;
const NIF = COLUMNS.indexOf('merchant_nif');
const REF = COLUMNS.indexOf('invoice_ref');
const CUSTOMER = COLUMNS.indexOf('customer_name');
/** Free texts: where delimiters are forgotten. */
const TEXTS = (['merchant_legal_name', 'customer_name', 'description'] as const).map((column) =>
  COLUMNS.indexOf(column),
);
const NUMBERS: readonly (readonly [NumberColumn, number])[] = NUMBER_COLUMNS.map((column) => [
  column,
  COLUMNS.indexOf(column),
]);

/** The record's own errors say what is wrong with it. As an identity it would part the row from the invoice that it belongs to. */
const UNUSABLE: ReferenceCell = plainReference(null);

/** What the rows of a table are written to. */
type RowsOf = Pick<Reading, 'counts' | 'findings' | 'options' | 'writer'>;

/** Turns the records of a CSV file or a sheet below its header into rows, and keeps the evidence they give. */
export class CsvRows {
  readonly #reading: RowsOf;
  readonly #dialect: TableHeader;
  readonly #damage: Damage;
  readonly #lost: LostRows;
  readonly #evidence: Readonly<Record<NumberColumn, DecimalEvidence>>;
  readonly #constants: readonly (string | undefined)[];
  readonly #identityFirst: boolean;
  readonly #width: RowWidth;
  readonly #read: readonly ReadColumn[];
  /** Positions of the columns that are not Lote's. */
  readonly #author: readonly number[];
  /** Columns with discounts, which nobody reads: position and header. */
  readonly #discounts: readonly { readonly at: number; readonly label: string }[];
  readonly #header: string;
  /** Null: the rows of a sheet, whose cells are what they are. */
  readonly #delimiter: string | null;
  readonly #swallowed: SwallowedRows | null;
  /** What the rows of a corrections file say of how they were read; one text for all of them. */
  readAs: string | null = null;
  /** Of a CSV file alone: a workbook says of each cell whether it is a number. */
  readonly references = new CutReferences();
  #shortLast: number | null = null;
  #last = 0;
  #records = 0;

  constructor(given: {
    reading: RowsOf;
    dialect: TableHeader;
    damage: Damage;
    lost: LostRows;
    evidence: Readonly<Record<NumberColumn, DecimalEvidence>>;
    /** Of a text; left out for a sheet. */
    delimiter?: string;
    /** How many trailing cells a whole row has; left out: none. */
    trailing?: number;
  }) {
    this.#reading = given.reading;
    this.#dialect = given.dialect;
    this.#damage = given.damage;
    this.#lost = given.lost;
    this.#evidence = given.evidence;
    this.#constants = COLUMNS.map((column) => given.reading.options.constants?.[column]);
    this.#identityFirst = isIdentityFirst(given.dialect.map.indexes);
    this.#delimiter = given.delimiter ?? null;
    this.#width = rowWidth(given.dialect.header.cells, given.trailing ?? 0);
    this.#swallowed = given.delimiter === undefined ? null : swallowedRows(given.dialect, given.delimiter, this.#width);
    this.#read = readColumns(given.dialect);
    this.#author = authorColumns(given.dialect.header.cells, given.dialect.map.own);
    this.#discounts = given.dialect.header.cells.flatMap((header, at) => {
      const isRead = this.#read.some((column) => column.at === at);
      return isRead || !isDiscount(header, given.reading.options) ? [] : [{ at, label: shorten(header.trim(), 80) }];
    });
    this.#header = JSON.stringify(given.dialect.header.cells);
  }

  /** @throws Refusal `rows-above-header`, `header-second`, `quote-misplaced`, `too-many-damaged-rows` */
  take(record: CsvRecord): void {
    this.#records += 1;
    if (record.row < this.#dialect.header.row) return this.#checkPreamble(record);
    if (record.row === this.#dialect.header.row) return this.#swallowed?.takeHeader(record);
    this.#shortLast = isShort(record.cells, this.#width) ? record.row : null;
    if (isBlank(record)) return;
    if (this.#isHeaderAgain(record)) return;
    this.#swallowed?.take(record);
    this.#reading.counts.rows += 1;
    this.#last = record.row;
    if (this.#dialect.map.own) this.#noteReadAs(record);
    this.#takeRow(this.#dialect.map.own ? this.#asItWas(record) : record, record);
  }

  /** `found`: the record as it stands in the file, whose decimal marks are not those of the first file. */
  #takeRow(record: CsvRecord, found: CsvRecord): void {
    const cells = this.#dialect.map.indexes.map((index, column) => this.#cell(record, index, column));
    const nif = record.unusable?.includes('merchant_nif') === true ? null : normalNif(cells[NIF] ?? '');
    const reference = this.#reference(record, cells);
    if (nif === null || reference.problem !== null) return this.#withoutInvoice(record, { cells, nif, reference });
    const row = { row: record.row, ref: reference.text, nif, object: null, cells };
    if (record.errors !== undefined) this.#damage.add(record.row, record.errors);
    if (this.#hasWrongWidth(record)) this.#damageRow(record);
    else {
      this.#observe(found);
      this.#requireNoDiscount(record);
    }
    // Corrections have few rows, and tell each cell that a spreadsheet has changed.
    if (this.#delimiter !== null && !this.#dialect.map.own) this.references.observe(row.ref);
    this.#lost.kept(row);
    this.#reading.writer.add(row);
  }

  /** @throws Refusal `quote-misplaced`, `truncated` */
  end(endedLine: boolean): void {
    this.#swallowed?.end();
    // A sheet has its own numbers of rows, a CSV file as many as records.
    if ((this.#delimiter === null ? this.#last : this.#records) === MOST_ROWS) throw sheetFull(this.#last);
    if (endedLine) return;
    if (this.#shortLast !== null)
      throw new Refusal(
        'truncated',
        `Row ${this.#shortLast}: the file ends in the middle of this row, so more may be missing. Export the file again`,
        { row: this.#shortLast },
      );
    if (this.#last === 0) return;
    this.#reading.findings.add({
      row: this.#last,
      column: null,
      code: 'line-end-missing',
      message: `Row ${this.#last} is the last one and has no line end. That is common; if the file was cut short, its last cell is incomplete`,
      severity: 'info',
    });
  }

  #reference(record: CsvRecord, cells: readonly (string | null)[]): ReferenceCell {
    const { referenceParts } = this.#dialect.map;
    const { reference } = this.#reading.options;
    if (this.#constants[REF] !== undefined) return plainReference(cells[REF]);
    if (record.unusable?.includes('invoice_ref') === true) return UNUSABLE;
    if (reference === undefined) return plainReference(cells[REF]);
    return builtReference(
      referenceParts.map((index) => this.#cell(record, index, REF) ?? ''),
      reference,
    );
  }

  /** With what a spreadsheet has changed as an error, so that the row stays with its invoice. */
  #asItWas(record: CsvRecord): CsvRecord {
    const { original } = this.#dialect.map;
    if (original < 0 || this.#hasWrongWidth(record)) return record;
    const given = { row: record.row, cells: record.cells.map((cell) => cell.replace(FORMULA_START, '')) };
    const table = { read: this.#read, author: this.#author, wasNeverText: record.wasNeverText === true };
    const { cells, errors, kept, marks } = beforeSpreadsheet(given, table, record.cells[original] ?? '');
    if (marks?.cells !== undefined)
      return { ...record, cells, hadWrongWidth: true, errors: [...(record.errors ?? []), ...errors] };
    for (const { column, cell, value } of kept) this.#evidence[column].observeKept(record.row, cell, value);
    if (errors.length === 0) return record;
    const unread = this.#read.filter(({ header }) => Object.hasOwn(marks?.unread ?? {}, header));
    const unusable = [...(record.unusable ?? []), ...unread.map(({ column }) => column)];
    return { ...record, cells, unusable, errors: [...(record.errors ?? []), ...errors] };
  }

  #cell(record: CsvRecord, index: number, column: number): string | null {
    const cell = this.#constants[column] ?? record.cells[index];
    if (cell === undefined) return null;
    // In number columns too: a minus that is not written as spreadsheets write it (`-１００`) looks like a formula to the writer.
    return this.#dialect.map.own ? cell.replace(FORMULA_START, '') : cell;
  }

  #observe(record: CsvRecord): void {
    for (const [column, at] of NUMBERS) {
      const cell = this.#cell(record, this.#dialect.map.indexes[at] ?? -1, at);
      if (cell !== null) this.#evidence[column].observe(record.row, cell);
    }
  }

  #requireNoDiscount({ row, cells }: CsvRecord): void {
    for (const { at, label } of this.#discounts) {
      const finding = discountFinding(row, label, cells[at] ?? '');
      if (finding !== null) this.#damage.add(row, [finding]);
    }
  }

  /** A title has few cells. Rows as full as an invoice's would be dropped here without a word. */
  #checkPreamble(record: CsvRecord): void {
    const { row, cells } = record;
    this.#swallowed?.takeTitle(record);
    if (cells.filter((cell) => cell.trim() !== '').length < REQUIRED_COLUMNS.length) return;
    throw new Refusal(
      'rows-above-header',
      `Row ${row}: expected nothing but titles above the header in row ${this.#dialect.header.row}, found a full row. Move the header to the top, or split the file`,
      { row },
    );
  }

  #isHeaderAgain(record: CsvRecord): boolean {
    if (record.cells[0] !== this.#dialect.header.cells[0] || JSON.stringify(record.cells) !== this.#header)
      return false;
    this.#reading.findings.add({
      row: record.row,
      column: null,
      code: 'header-repeated',
      message: `Row ${record.row} repeats the header and was left out`,
      severity: 'info',
    });
    return true;
  }

  /** A delimiter that is not quoted shifts what stands behind it: where a text stands before the reference, that may be another's. */
  #damageRow(record: CsvRecord): void {
    const { row } = record;
    this.#damage.add(row, [this.#widthFinding(record)]);
    if (!this.#identityFirst) this.#lost.lose(shiftedRow(row));
  }

  #noteReadAs({ row, cells }: CsvRecord): void {
    const text = cells[this.#dialect.map.readAs]?.trim() ?? '';
    if (text === '') return;
    this.readAs ??= text;
    if (text === this.readAs) return;
    throw new Refusal(
      'corrections-mixed',
      `Row ${row}: expected ${READ_AS} "${shorten(this.readAs, 80)}" as above, found "${shorten(text, 80)}". These rows come from files that are read in different ways: drop each corrections file alone`,
      { row },
    );
  }

  #hasWrongWidth({ cells, hadWrongWidth }: CsvRecord): boolean {
    return hadWrongWidth === true || hasWrongWidth(cells, this.#width);
  }

  #widthFinding({ row, cells, hadWrongWidth }: CsvRecord) {
    const message =
      hadWrongWidth === true
        ? `Row ${row}: the row did not have as many cells as the header when it was dropped before (${ORIGINAL}), so its values may stand in wrong columns. Put each value into its column; if its last cells stay empty, empty ${ORIGINAL} in this row, too`
        : `Row ${row}: ${this.#cellsExpected(cells)}`;
    return { row, column: null, code: 'cell-count', message, severity: 'error' } as const;
  }

  #cellsExpected(found: readonly string[]): string {
    const { columns, trailing } = this.#width;
    if (trailing === 0 || found.length < columns || found.length >= columns + trailing)
      return `expected ${columns} cells as in the header, found ${found.length}. Look for a delimiter inside a text that is not quoted`;
    return `expected ${columns + trailing} cells as in the header, the last ones of which are empty because the line ends with delimiters, found ${found.length}. Look for a cell that is missing; if only the header ends with a delimiter, take it off there`;
  }

  #withoutInvoice(
    record: CsvRecord,
    given: {
      readonly cells: readonly (string | null)[];
      readonly nif: string | null;
      readonly reference: ReferenceCell;
    },
  ): void {
    const { counts, findings } = this.#reading;
    const { cells, nif, reference } = given;
    const { row } = record;
    counts.rowsWithoutInvoice += 1;
    const total = reference === UNUSABLE ? null : totalsLabel(record.cells, cells);
    if (total !== null) {
      findings.add({
        row,
        column: null,
        code: 'totals-row',
        message: `Row ${row} ("${shorten(total, 40)}") is a totals row and not part of an invoice`,
        severity: 'warning',
      });
      return;
    }
    this.#requireNoHeader(record);
    counts.rowsLost += 1;
    const shifted = this.#hasWrongWidth(record);
    if (shifted) findings.add(this.#widthFinding(record));
    const customer = cells[CUSTOMER]?.trim() ?? '';
    this.#lost.lose(
      shifted && !this.#identityFirst
        ? shiftedRow(row)
        : {
            row,
            ref: reference.text,
            nif,
            customer,
            what: reference === UNUSABLE ? 'has no usable reference' : 'has no reference',
          },
    );
    for (const error of record.errors ?? []) findings.add(error);
    if (record.unusable?.includes('merchant_nif') !== true)
      this.#addProblem(row, 'merchant_nif', nifProblem(cells[NIF] ?? ''));
    if (reference !== UNUSABLE) this.#addProblem(row, 'invoice_ref', reference.problem);
  }

  #addProblem(row: number, column: Column, problem: { readonly code: string; readonly message: string } | null): void {
    if (problem === null) return;
    const label = labelOf(this.#dialect, column);
    const message = `Row ${row}, ${label}: ${problem.message}`;
    this.#reading.findings.add({ row, column: label, code: problem.code, message, severity: 'error' });
  }

  /** Two exports glued together: below the second header the columns may stand in another order. */
  #requireNoHeader({ row, cells }: CsvRecord): void {
    if (mapHeader(cells, this.#reading.options).found < HEADER_LIKE) return;
    throw new Refusal(
      'header-second',
      `Row ${row}: expected an invoice line, found a second header that differs from the one in row ${this.#dialect.header.row}. Split the file into one file for each header`,
      { row },
    );
  }
}

/** A program that opens a longer file drops the rows below, and what it saves does not show that there were any. */
function sheetFull(row: number): Refusal {
  return new Refusal(
    'truncated',
    `Row ${row} is row ${MOST_ROWS.toLocaleString('en')}, the last one that a spreadsheet program holds, so more rows may be missing, also of the last invoice. Export the file again, in parts that are shorter, and do not save them in a spreadsheet program`,
    { row },
  );
}

/** Nothing in it can be trusted to stand in its column. */
function shiftedRow(row: number): LostRow {
  return { row, ref: '', nif: null, customer: '', what: 'has another number of cells than the header' };
}

function swallowedRows({ header, map }: TableHeader, delimiter: string, width: RowWidth): SwallowedRows {
  const ref = map.indexes[REF] ?? -1;
  const places = {
    nif: map.indexes[NIF] ?? -1,
    refs: (ref < 0 ? map.referenceParts : [ref]).filter((at) => at >= 0),
    numbers: NUMBERS.map(([, at]) => map.indexes[at] ?? -1),
  };
  return new SwallowedRows(header.cells, { delimiter, width, places });
}

function isIdentityFirst(indexes: readonly number[]): boolean {
  const texts = TEXTS.map((at) => indexes[at] ?? -1).filter((index) => index >= 0);
  return Math.max(indexes[NIF] ?? -1, indexes[REF] ?? -1) < Math.min(...texts, Infinity);
}

/** A line without a delimiter and a text is blank, and no row. */
function isShort(cells: readonly string[], width: RowWidth): boolean {
  return lackedCells(cells, width) > 0 && (cells.length > 1 || !isEmpty(cells[0]));
}

/** A cell that is there and without a value (a formula that no program calculated) makes it a row that must not be lost. */
function isBlank({ cells, unusable }: CsvRecord): boolean {
  return (unusable?.length ?? 0) === 0 && cells.every((cell) => cell.trim() === '');
}
