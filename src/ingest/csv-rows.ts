import { COLUMNS } from '../domain/row.ts';
import type { Column } from '../domain/row.ts';
import type { CsvRecord } from './csv-reader.ts';
import type { Damage } from './damage.ts';
import type { DecimalEvidence } from './decimal-evidence.ts';
import type { DialectDecision } from './decide-dialect.ts';
import { nifProblem, normalNif } from './identity.ts';
import { NUMBER_COLUMNS } from './ingest-result.ts';
import type { NumberColumn } from './ingest-result.ts';
import type { Reading } from './reading.ts';
import { Refusal } from './refusal.ts';
import { shorten } from './shorten.ts';

/** `'` that Lote put before a cell which a spreadsheet would execute; taken off in Lote's own files only. */
const INERT = /^'(?='*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20])/;
const TOTALS = /^(?:sub|grand|gran)?[\s-]?tota(?:l|is|les|ux)\b|^(?:soma|suma|sum)\b/i;
/** A hostile header cell may be a megabyte long, and each finding repeats it. */
const LONGEST_LABEL = 80;
const NIF = COLUMNS.indexOf('merchant_nif');
const REF = COLUMNS.indexOf('invoice_ref');
const NUMBERS: readonly (readonly [NumberColumn, number])[] = NUMBER_COLUMNS.map((column) => [
  column,
  COLUMNS.indexOf(column),
]);

/** Turns the records of a CSV file below its header into rows, and keeps the evidence they give. */
export class CsvRows {
  readonly #reading: Reading;
  readonly #dialect: DialectDecision;
  readonly #damage: Damage;
  readonly #evidence: Readonly<Record<NumberColumn, DecimalEvidence>>;
  readonly #width: number;
  readonly #header: string;
  #shortLast: number | null = null;

  constructor(given: {
    reading: Reading;
    dialect: DialectDecision;
    damage: Damage;
    evidence: Readonly<Record<NumberColumn, DecimalEvidence>>;
  }) {
    this.#reading = given.reading;
    this.#dialect = given.dialect;
    this.#damage = given.damage;
    this.#evidence = given.evidence;
    this.#width = given.dialect.header.cells.findLastIndex((cell) => cell.trim() !== '') + 1;
    this.#header = JSON.stringify(given.dialect.header.cells);
  }

  take(record: CsvRecord): void {
    if (record.row <= this.#dialect.header.row || isBlank(record.cells)) return;
    if (this.#isHeaderAgain(record)) return;
    this.#reading.counts.rows += 1;
    this.#shortLast = record.cells.length < this.#width ? record.row : null;
    const cells = this.#dialect.map.indexes.map((index, column) => this.#cell(record, index, column));
    const nif = normalNif(cells[NIF] ?? '');
    const ref = cells[REF]?.trim() ?? '';
    if (nif === null || ref === '') return this.#withoutInvoice(record, cells);
    if (this.#hasWrongWidth(record)) this.#damage.add(record.row, [this.#widthFinding(record)]);
    else this.#observe(record.row, cells);
    this.#reading.writer.add({ row: record.row, ref, nif, object: null, cells });
  }

  /** @throws Refusal `truncated` */
  end(endedLine: boolean): void {
    if (endedLine || this.#shortLast === null) return;
    throw new Refusal(
      'truncated',
      `Row ${this.#shortLast}: the file ends in the middle of this row, so more may be missing. Export the file again`,
      { row: this.#shortLast },
    );
  }

  #cell(record: CsvRecord, index: number, column: number): string | null {
    const cell = record.cells[index];
    if (cell === undefined) return null;
    const isNumber = NUMBERS.some(([, at]) => at === column);
    return this.#dialect.map.own && !isNumber ? cell.replace(INERT, '') : cell;
  }

  #observe(row: number, cells: readonly (string | null)[]): void {
    for (const [column, at] of NUMBERS) {
      const cell = cells[at];
      if (cell !== null && cell !== undefined) this.#evidence[column].observe(row, cell);
    }
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

  #hasWrongWidth({ cells }: CsvRecord): boolean {
    return cells.length < this.#width || cells.slice(this.#width).some((cell) => cell.trim() !== '');
  }

  #widthFinding({ row, cells }: CsvRecord) {
    const message = `Row ${row}: expected ${this.#width} cells as in the header, found ${cells.length}. Look for a delimiter inside a text that is not quoted`;
    return { row, column: null, code: 'cell-count', message, severity: 'error' } as const;
  }

  #withoutInvoice(record: CsvRecord, cells: readonly (string | null)[]): void {
    const { counts, findings } = this.#reading;
    const { row } = record;
    counts.rowsWithoutInvoice += 1;
    const total = record.cells.find((cell) => TOTALS.test(cell.trim()));
    if (total !== undefined) {
      findings.add({
        row,
        column: null,
        code: 'totals-row',
        message: `Row ${row} ("${shorten(total.trim(), 40)}") is a totals row and not part of an invoice`,
        severity: 'warning',
      });
      return;
    }
    if (this.#hasWrongWidth(record)) findings.add(this.#widthFinding(record));
    const problem = nifProblem(cells[NIF] ?? '');
    if (problem !== null)
      findings.add({
        row,
        column: this.#label('merchant_nif'),
        code: problem.code,
        message: `Row ${row}, ${this.#label('merchant_nif')}: ${problem.message}`,
        severity: 'error',
      });
    if ((cells[REF]?.trim() ?? '') !== '') return;
    findings.add({
      row,
      column: this.#label('invoice_ref'),
      code: 'reference-missing',
      message: `Row ${row}, ${this.#label('invoice_ref')}: expected the invoice's reference, found an empty cell`,
      severity: 'error',
    });
  }

  #label(column: Column): string {
    return labelOf(this.#dialect, column);
  }
}

/** The file's own word for a column. */
export function labelOf(dialect: DialectDecision, column: Column): string {
  return shorten(
    dialect.header.cells[dialect.map.indexes[COLUMNS.indexOf(column)] ?? -1]?.trim() ?? column,
    LONGEST_LABEL,
  );
}

function isBlank(cells: readonly string[]): boolean {
  return cells.every((cell) => cell.trim() === '');
}
