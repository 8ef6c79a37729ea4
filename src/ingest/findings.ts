import type { Finding } from '../domain/invoice.ts';
import { COLUMNS, type RawRow, type Column } from '../domain/row.ts';
import type { Conversion } from './ingest-result.ts';
import { escapeInvisible } from '../domain/text/escape-invisible.ts';

/** Returns an error about a row or one of its cells; its message begins with the place. */
export function rowError(row: number, column: string | null, code: string, message: string): Finding {
  const place = column === null ? `Row ${row}` : `Row ${row}, ${column}`;
  return { row, column, code, message: `${place}: ${message}`, severity: 'error' };
}

/** Returns a finding about a file or row as a whole. */
export function note(severity: Finding['severity'], code: string, message: string, row: number | null = null): Finding {
  return { row, column: null, code, message, severity };
}

/** A file with a million unusual rows must not put a million warnings in memory; Lote only counts the rest. */
const MOST_WARNINGS = 1000;
/** If more rows than this have no invoice, Lote assumes that it misread the file. */
const MOST_ROWS_WITH_ERRORS = 1000;

/** The bounded list of findings of one file. */
export class FindingList {
  readonly #kept: Finding[] = [];
  readonly #rowsWithErrors = new Set<number>();
  #warnings = 0;

  /** Keeps every row error: corrections find rows without an invoice by it. @throws Refusal `too-many-damaged-rows` */
  add(finding: Finding): void {
    if (finding.severity === 'error') this.#noteRow(finding);
    else if (finding.rows === undefined) {
      // Findings that count rows are kept, because the report balances by them.
      this.#warnings += 1;
      if (this.#warnings > MOST_WARNINGS) return;
    }
    this.#kept.push(finding);
  }

  all(): readonly Finding[] {
    const more = this.#warnings - MOST_WARNINGS;
    if (more <= 0) return this.#kept;
    const message = `${more} more warnings of this file are not listed. Correct those above and check the file again`;
    return [...this.#kept, note('warning', 'warnings-omitted', message)];
  }

  #noteRow({ row, message: last }: Finding): void {
    if (row === null) return;
    this.#rowsWithErrors.add(row);
    if (this.#rowsWithErrors.size <= MOST_ROWS_WITH_ERRORS) return;
    const message = `More than ${MOST_ROWS_WITH_ERRORS} rows have no usable reference or tax number. The last one found: ${last}. Write both into each row of an invoice, or name their columns in a profile`;
    throw new Refusal('too-many-damaged-rows', message, { row });
  }
}

/** If more rows than this have a wrong shape, Lote assumes that it misread the file. */
const MOST_DAMAGED_ROWS = 1000;

/** Findings that only the reader of a file can make, kept until Lote builds their invoice. */
export class Damage {
  readonly #byRow = new Map<number, Finding[]>();

  add(row: number, findings: readonly Finding[]): void {
    const earlier = this.#byRow.get(row);
    if (earlier !== undefined) {
      earlier.push(...findings);
      return;
    }
    this.#byRow.set(row, [...findings]);
    if (this.#byRow.size <= MOST_DAMAGED_ROWS) return;
    const example = findings[0]?.message ?? '';
    const message = `More than ${MOST_DAMAGED_ROWS} rows do not have the shape of the file. The last one found: ${example}`;
    throw new Refusal('too-many-damaged-rows', message, { row });
  }

  toJSON(): Record<string, readonly Finding[]> {
    return Object.fromEntries([...this.#byRow].map(([row, findings]) => [String(row), findings]));
  }
}

/** Thrown inside ingest when Lote cannot determine the rows of a file; `readFile` turns it into a refused result. */
export class Refusal extends Error {
  readonly finding: Finding;

  constructor(code: string, message: string, place: { readonly row?: number; readonly column?: string } = {}) {
    super(message);
    this.name = 'Refusal';
    this.finding = { ...note('error', code, message, place.row), column: place.column ?? null };
  }
}

/** A fault at a byte of a file; the reader of the file turns it into a `Refusal` that names the line. */
export class FaultAt extends Error {
  readonly code: string;
  readonly offset: number;

  constructor(code: string, message: string, offset: number) {
    super(message);
    this.code = code;
    this.offset = offset;
  }
}

/** A row that is not a totals row and has no usable reference or tax number, or whose cells are shifted. */
export interface LostRow {
  readonly row: number;
  readonly ref: string;
  /** The digits of the tax number; null if the cell is empty or unreadable. */
  readonly nif: string | null;
  readonly customer: string;
  readonly what: string;
}

/** Lost rows stay in memory. If there are more than this, Lote assumes that it misread the file. */
const MOST_REFERENCES = 1000;
const CUSTOMER = COLUMNS.indexOf('customer_name');

/**
 * A row without identity may be a line of an invoice that looks complete without it, because some tables carry the
 * reference only in the first row of each invoice. An issued invoice that lacks a line cannot be called back. Lote
 * therefore makes the invoices to which the row may belong invalid, and they come back with it: those with the same
 * reference, or else its neighbours with the same customer.
 */
export class LostRows {
  readonly #damage: Damage;
  readonly #label: string;
  readonly #references = new Map<string, number>();
  #above: RawRow | null = null;
  #blamed: RawRow | null = null;
  /** Lost rows since the last row with an identity: each may be a line of the next invoice. */
  #waiting = new Map<string, LostRow>();

  constructor(damage: Damage, label: string) {
    this.#damage = damage;
    this.#label = label;
  }

  kept(row: RawRow): void {
    this.#above = row;
    for (const [words, lost] of this.#waiting) {
      // A shifted row is both lost and kept, so it waits for the row below it.
      if (lost.row === row.row) continue;
      this.#blame(row, lost);
      this.#waiting.delete(words);
    }
  }

  lose(lost: LostRow): void {
    if (lost.ref === '') {
      if (this.#above !== null) this.#blame(this.#above, lost);
      // Of equal rows the last one is enough, so a long run of them takes no more memory.
      this.#waiting.set(JSON.stringify([lost.nif, lost.customer]), lost);
      if (this.#waiting.size > MOST_REFERENCES) throw tooMany(lost, 'no reference, one below the other');
      return;
    }
    if (!this.#references.has(lost.ref)) this.#references.set(lost.ref, lost.row);
    if (this.#references.size <= MOST_REFERENCES) return;
    throw tooMany(lost, 'a reference and no usable tax number');
  }

  references(): Record<string, number> {
    return Object.fromEntries(this.#references);
  }

  #blame(row: RawRow, lost: LostRow): void {
    if (this.#blamed === row || !mayBelong(lost, row)) return;
    this.#blamed = row;
    const message = `row ${lost.row} beside it ${lost.what} and may be a line of this invoice, so the invoice is not sent. Correct row ${lost.row}`;
    this.#damage.add(row.row, [rowError(row.row, this.#label, 'line-may-be-missing', message)]);
  }
}

function tooMany({ row }: LostRow, found: string): Refusal {
  const message = `More than ${MOST_REFERENCES} rows have ${found}, the last one is row ${row}. Correct the column, or name it in a profile`;
  return new Refusal('too-many-damaged-rows', message, { row });
}

/** Returns true if the filled cells of the two rows do not contradict each other. */
function mayBelong(lost: LostRow, row: RawRow): boolean {
  if (lost.nif !== null && lost.nif !== row.nif) return false;
  return lost.customer === '' || lost.customer === (row.cells[CUSTOMER]?.trim() ?? '');
}

const HALF_PAIR = /\p{Surrogate}$/u;

/** Returns the beginning of a text, with no half of a surrogate pair, which PostgreSQL refuses in JSON. */
export function shorten(text: string, longest: number): string {
  return text.length <= longest ? text : text.slice(0, longest).replace(HALF_PAIR, '');
}

const LONGEST_SHOWN = 60;
/** An invoice of 100,000 wrong lines is one wrong invoice; its findings must still fit in the ledger and on a page. */
const MOST_OF_ONE_INVOICE = 100;

/** Returns the trimmed cell of a column. An absent cell counts as empty. */
export function cellOf(row: RawRow, column: Column): string {
  return row.cells[COLUMNS.indexOf(column)]?.trim() ?? '';
}

/** Builds the findings about the cells of one invoice, with the file's own column names. The list is bounded. */
export class CellFindings {
  readonly #kept: Finding[] = [];
  readonly #labels: Conversion['labels'];
  #more = 0;
  hasError = false;

  constructor(labels: Conversion['labels']) {
    this.#labels = labels;
  }

  error(row: number, column: Column, code: string, message: string): void {
    this.#add(rowError(row, this.#labels[column], code, message));
  }

  warning(row: number, column: Column, code: string, message: string): void {
    this.#add({ ...rowError(row, this.#labels[column], code, message), severity: 'warning' });
  }

  addAll(findings: readonly Finding[]): void {
    for (const finding of findings) this.#add(finding);
  }

  list(): readonly Finding[] {
    if (this.#more === 0) return this.#kept;
    const message = `${this.#more} more findings of this invoice are not listed. Correct those above and check the file again`;
    return [...this.#kept, note('warning', 'findings-omitted', message)];
  }

  #add(finding: Finding): void {
    // A full list drops its last finding for the first error, which keeps the invoice from being sent.
    if (finding.severity === 'error' && !this.hasError) {
      this.hasError = true;
      if (this.#kept.length >= MOST_OF_ONE_INVOICE) {
        this.#kept.pop();
        this.#more += 1;
      }
    }
    if (this.#kept.length < MOST_OF_ONE_INVOICE) this.#kept.push(finding);
    else this.#more += 1;
  }
}

/** Returns a cell for a finding, with invisible characters as codes, because some reverse the text behind them. */
export function shownCell(text: string): string {
  const shown = JSON.stringify(text.length > LONGEST_SHOWN ? `${shorten(text, LONGEST_SHOWN)}…` : text);
  return escapeInvisible(shown);
}
