import type { Finding } from '../../domain/invoice.ts';
import { COLUMNS } from '../../domain/row.ts';
import type { Column } from '../../domain/row.ts';
import type { CsvRecord } from '../csv/csv-reader.ts';
import { ORIGINAL } from '../../domain/read-as.ts';
import { widthOf } from '../csv/row-width.ts';
import { labelOf } from '../csv/table-header.ts';
import type { HeaderPlaces } from '../csv/table-header.ts';
import type { FindingList } from '../finding-list.ts';
import type { SheetDialect } from '../ingest-result.ts';
import { cellValue } from './cell-value.ts';
import type { CellRole, CellValue } from './cell-value.ts';
import { wasNeverText } from './never-text.ts';
import { shownCells } from './sheet-heads.ts';
import type { SheetRow } from './workbook.ts';

const ROLES: Readonly<Record<Column, CellRole>> = {
  invoice_ref: 'reference',
  merchant_nif: 'tax-number',
  merchant_legal_name: 'text',
  merchant_email: 'text',
  customer_name: 'text',
  customer_tax_id: 'tax-number',
  currency: 'text',
  description: 'text',
  quantity: 'number',
  unit_price: 'number',
  tax_code: 'text',
};

/** How many of something there were, and where first. */
export interface Sightings {
  count: number;
  first: string | null;
}

/** Turns the rows of a sheet into records as a CSV file has them, and keeps what a reader must know of their cells. */
export class SheetRecords {
  readonly formulas: Sightings = { count: 0, first: null };
  readonly hiddenRows: Sightings = { count: 0, first: null };
  readonly beyond: Sightings = { count: 0, first: null };
  readonly #chosen: HeaderPlaces;
  readonly #width: number;
  /** Position of `lote_original`; -1: it has none. */
  readonly #originalAt: number;
  /** Column of Lote and role by position in the sheet. */
  readonly #columns: readonly ({ readonly column: Column; readonly role: CellRole } | undefined)[];
  readonly #recalculates: boolean;
  readonly #findings: FindingList | null;
  readonly #marks: SheetDialect['marks'];

  constructor(given: {
    chosen: HeaderPlaces;
    recalculates: boolean;
    /** Gets the warnings; null when the rows were read before. */
    findings: FindingList | null;
    /** For records that are written as text. */
    marks?: SheetDialect['marks'];
  }) {
    this.#chosen = given.chosen;
    this.#recalculates = given.recalculates;
    this.#findings = given.findings;
    this.#marks = given.marks ?? { quantity: '.', unit_price: '.' };
    const { map, header } = given.chosen;
    this.#width = widthOf(header.cells);
    this.#originalAt = header.cells.findIndex((cell) => cell.trim() === ORIGINAL);
    this.#columns = header.cells.map((_, at) => {
      const column = COLUMNS[map.indexes.indexOf(at)];
      const isPart = map.referenceParts.includes(at);
      if (column !== undefined && !(isPart && ROLES[column] === 'text')) return { column, role: ROLES[column] };
      return isPart ? { column: 'invoice_ref', role: 'reference' } : undefined;
    });
  }

  /** Positions whose cells are read. */
  isRead(position: number): boolean {
    return this.#columns[position] !== undefined;
  }

  /** The record of a row; `inCsv` has its cells as a corrections file holds them. */
  record(row: SheetRow): CsvRecord & { readonly inCsv: readonly string[]; readonly unread?: readonly UnreadCell[] } {
    const { header } = this.#chosen;
    if (row.row <= header.row) {
      const cells = shownCells(row);
      return { row: row.row, cells, inCsv: cells };
    }
    const wrong: Wrong = { errors: [], unusable: [], unread: [] };
    const values = Array.from({ length: this.#width }, (_, at) => this.#value(row, at, wrong));
    if (row.hidden) {
      sight(this.hiddenRows, `row ${row.row}`);
      wrong.errors.push(hiddenRow(row.row));
    }
    for (let at = this.#width; at < row.cells.length; at += 1)
      if ((row.cells[at]?.text.trim() ?? '') !== '') sight(this.beyond, `row ${row.row}, column ${at + 1}`);
    return {
      row: row.row,
      cells: values.map(({ text }) => text),
      inCsv: values.map((value, at) => this.#inCsv(value, at)),
      wasNeverText: wasNeverText(row.cells[this.#originalAt]),
      ...(wrong.errors.length === 0 ? {} : wrong),
    };
  }

  #value(row: SheetRow, at: number, wrong: Wrong): CellValue {
    const known = this.#columns[at];
    const cell = row.cells[at];
    const value = cellValue(cell, known?.role ?? 'text');
    if (cell === undefined || known === undefined) return value;
    const label = labelOf(this.#chosen, known.column);
    if (cell.formula) sight(this.formulas, `row ${row.row}, ${label}`);
    const isStale = cell.formula && this.#recalculates && cell.kind !== 'missing';
    const note = isStale ? NOT_CALCULATED : value.note;
    if (note === undefined) return value;
    const message = `Row ${row.row}, ${label}: ${note.message}`;
    const finding: Finding = { row: row.row, column: label, code: note.code, message, severity: note.severity };
    if (note.severity === 'warning') this.#findings?.add(finding);
    else {
      wrong.errors.push(finding);
      wrong.unusable.push(known.column);
      wrong.unread.push({ at, code: note.code });
    }
    return isStale ? { ...value, inCsv: '#VALUE!' } : value;
  }

  /** Numbers that were numbers are written with the mark of those that were texts: a column of a CSV file has one. */
  #inCsv({ text, inCsv }: CellValue, at: number): string {
    if (inCsv === undefined) return text;
    const column = this.#columns[at]?.column;
    const mark = column === 'quantity' || column === 'unit_price' ? this.#marks[column] : '.';
    return inCsv.replace('.', mark);
  }
}

/** A cell that cannot be used: its position, and the code of what is wrong with it. */
export interface UnreadCell {
  readonly at: number;
  readonly code: string;
}

interface Wrong {
  readonly errors: Finding[];
  readonly unusable: Column[];
  readonly unread: UnreadCell[];
}

const NOT_CALCULATED = {
  code: 'formula-not-calculated',
  message:
    'found a formula, and the program that wrote the file asks to have its value calculated again. Open the file in a spreadsheet program and save it again',
  severity: 'error',
} as const;

function hiddenRow(row: number): Finding {
  return {
    row,
    column: null,
    code: 'row-hidden',
    message: `Row ${row}: the row is hidden, so nobody who looks at the sheet sees that it would be sent. Show the row, or delete it`,
    severity: 'error',
  };
}

function sight(sightings: Sightings, where: string): void {
  sightings.count += 1;
  sightings.first ??= where;
}
