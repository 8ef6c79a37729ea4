import type { Finding } from '../../domain/invoice.ts';
import { READ_AS, READ_AS_FORMAT } from '../../domain/read-as.ts';
import { COLUMNS, type Column } from '../../domain/row.ts';
import type { CsvRecord } from '../csv/csv-reader.ts';
import { widthOf } from '../csv/row-width.ts';
import { labelOf, type HeaderPlaces } from '../csv/table-header.ts';
import { rowError, type FindingList } from '../findings.ts';
import type { Dialect } from '../ingest-result.ts';
import { cellValue, type CellRole, type CellValue } from './cell-value.ts';
import { parseNumberFormat } from './number-format.ts';
import { openWorkbook } from './open-workbook.ts';
import { shownCells, type SheetCell, type SheetRow, type SheetRows } from './workbook.ts';

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

/** Turns the rows of a sheet into records as a CSV file has them, and collects findings about their cells. */
export class SheetRecords {
  readonly formulas: { count: number; first: string | null } = { count: 0, first: null };
  readonly #chosen: HeaderPlaces;
  readonly #width: number;
  /** Position of `lote_read_as`, or -1 if absent. */
  readonly #readAsAt: number;
  readonly #columns: readonly ({ readonly column: Column; readonly role: CellRole } | undefined)[];
  readonly #recalculates: boolean;
  readonly #findings: FindingList;

  constructor(given: { chosen: HeaderPlaces; recalculates: boolean; findings: FindingList }) {
    this.#chosen = given.chosen;
    this.#recalculates = given.recalculates;
    this.#findings = given.findings;
    const { map, header } = given.chosen;
    this.#width = widthOf(header.cells);
    this.#readAsAt = header.cells.findIndex((cell) => cell.trim() === READ_AS);
    this.#columns = header.cells.map((_, at) => {
      const column = COLUMNS[map.indexes.indexOf(at)];
      const isPart = map.referenceParts.includes(at);
      if (column !== undefined && !(isPart && ROLES[column] === 'text')) return { column, role: ROLES[column] };
      return isPart ? { column: 'invoice_ref', role: 'reference' } : undefined;
    });
  }

  isRead(position: number): boolean {
    return this.#columns[position] !== undefined;
  }

  record(row: SheetRow): CsvRecord {
    const { header } = this.#chosen;
    if (row.row <= header.row) return { row: row.row, cells: shownCells(row) };
    const wrong: Wrong = { errors: [], unusable: [] };
    const values = Array.from({ length: this.#width }, (_, at) => this.#value(row, at, wrong));
    if (row.hidden) wrong.errors.push(rowError(row.row, null, 'row-hidden', HIDDEN));
    // Cells beyond the header belong to no column and make the row too wide.
    const beyond = shownCells(row).slice(this.#width);
    return {
      row: row.row,
      cells: [...values.map(({ text }) => text), ...beyond],
      wasText: !isAsWritten(row.cells[this.#readAsAt]),
      ...(wrong.errors.length === 0 ? {} : wrong),
    };
  }

  #value(row: SheetRow, at: number, wrong: Wrong): CellValue {
    const known = this.#columns[at];
    const cell = row.cells[at];
    const value = cellValue(cell, known?.role ?? 'text');
    if (cell === undefined || known === undefined) return value;
    const label = labelOf(this.#chosen, known.column);
    if (cell.formula) this.formulas.count += 1;
    if (cell.formula) this.formulas.first ??= `row ${row.row}, ${label}`;
    const isStale = cell.formula && this.#recalculates && cell.kind !== 'missing';
    const note = isStale ? NOT_CALCULATED : value.note;
    if (note === undefined) return value;
    const finding: Finding = { ...rowError(row.row, label, note.code, note.message), severity: note.severity };
    if (note.severity === 'warning') this.#findings.add(finding);
    else {
      wrong.errors.push(finding);
      wrong.unusable.push(known.column);
    }
    return value;
  }
}

interface Wrong {
  readonly errors: Finding[];
  readonly unusable: Column[];
}

const NOT_CALCULATED = {
  code: 'formula-not-calculated',
  message:
    'found a formula, and the program that wrote the file asks to have its value calculated again. Open the file in a spreadsheet program and save it again',
  severity: 'error',
} as const;

const HIDDEN =
  'the row is hidden, so a person who looks at the sheet does not see that it would be sent. Show the row, or delete it';

/** The parsed format, because ODS writes it in another way than XLSX. */
const WRITTEN = parseNumberFormat(READ_AS_FORMAT);

/** A cell of `lote_read_as` loses the format that Lote gave it if the workbook was saved as text. */
function isAsWritten(cell: SheetCell | undefined): boolean {
  const format = cell?.format ?? null;
  return (
    format !== null &&
    format.kind === WRITTEN.kind &&
    format.digits?.decimals === WRITTEN.digits?.decimals &&
    format.digits?.leastDigits === WRITTEN.digits?.leastDigits
  );
}

interface ReadSheetRow {
  readonly row: SheetRow;
  /** The merged ranges of the whole sheet; complete only after its last row. */
  readonly merged: SheetRows['merged'];
  /** The program asks to calculate all formulas again: saved values are not reliable. */
  readonly recalculates: boolean;
}

/** Reads the rows below the header again; the caller compares hashes. @throws LoteError `file-unreadable`; Refusal */
export async function* readSheetRows(
  path: string,
  { sheet, headerRow }: Pick<Dialect, 'sheet' | 'headerRow'>,
): AsyncGenerator<ReadSheetRow> {
  const workbook = await openWorkbook(path);
  try {
    const found = workbook.sheets.find(({ name }) => name === sheet?.name);
    if (found === undefined) return;
    const { recalculates } = workbook;
    const { portions, merged } = workbook.rows(found);
    for await (const portion of portions)
      for (const row of portion) if (row.row > (headerRow ?? 0)) yield { row, merged, recalculates };
  } finally {
    workbook.close();
  }
}
