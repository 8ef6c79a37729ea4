import type { Finding } from '../../domain/invoice.ts';
import { READ_AS } from '../../domain/read-as.ts';
import { COLUMNS } from '../../domain/row.ts';
import type { Damage } from '../encoding/damage.ts';
import type { DecimalEvidence } from '../csv/decimal-evidence.ts';
import { expandExponent } from '../invoice/expand-exponent.ts';
import { nifProblem, normalNif } from '../invoice/identity.ts';
import { JSON_PATHS, cellsOf, shapeFinding, shapeProblems } from './json-shape.ts';
import { NUMBER_COLUMNS } from '../ingest-result.ts';
import type { NumberColumn } from '../ingest-result.ts';
import { JsonNumber, isObject, jsonText } from './json-value.ts';
import type { JsonObject, JsonValue } from './json-value.ts';
import { discountFinding, isDiscount } from '../profile/discount.ts';
import type { Reading } from '../reading.ts';
import { Refusal } from '../refusal.ts';
import { shorten } from '../invoice/shorten.ts';

const NIF = COLUMNS.indexOf('merchant_nif');
const REF = COLUMNS.indexOf('invoice_ref');
const OWN_MEMBERS = ['lote_state', 'lote_reason'] as const;
const KNOWN: Readonly<Record<string, ReadonlySet<string>>> = {
  '': new Set(['invoice_ref', 'merchant', 'customer', 'currency', 'lines', ...OWN_MEMBERS, READ_AS]),
  'merchant.': new Set(['nif', 'legal_name', 'email']),
  'customer.': new Set(['name', 'tax_id']),
  'lines[].': new Set(['description', 'quantity', 'unit_price', 'tax_code']),
};
const MOST_IGNORED = 50;

/** Turns invoice objects into rows: one per entry of `lines`, numbered from 1 over the whole file. */
export class JsonRows {
  readonly #reading: Reading;
  readonly #damage: Damage;
  readonly ignored = new Set<string>();
  readonly #evidence: Readonly<Record<NumberColumn, DecimalEvidence>>;
  /** What the objects of a corrections file say of how they were read; one text for all of them. */
  readAs: string | null = null;
  #object = 0;
  #ofCorrections = 0;

  constructor(given: { reading: Reading; damage: Damage; evidence: Readonly<Record<NumberColumn, DecimalEvidence>> }) {
    this.#reading = given.reading;
    this.#damage = given.damage;
    this.#evidence = given.evidence;
  }

  /** Every object says what became of it: the file is one of corrections. */
  get own(): boolean {
    return this.#object > 0 && this.#ofCorrections === this.#object;
  }

  take(record: JsonValue): void {
    this.#object += 1;
    if (isObject(record) && OWN_MEMBERS.every((name) => name in record)) this.#ofCorrections += 1;
    const first = this.#reading.counts.rows + 1;
    if (!isObject(record))
      return this.#withoutInvoice(1, [
        located(first, null, 'record-not-object', 'expected an invoice object, found another value'),
      ]);
    this.#noteIgnored(record);
    this.#noteReadAs(first, record[READ_AS]);
    const lines = Array.isArray(record['lines']) ? record['lines'] : [];
    // An invoice without lines still is one: a row of its own keeps it in the report.
    const entries = lines.length === 0 ? [undefined] : lines;
    const cells = cellsOf(record, undefined);
    const nif = normalNif(cells[NIF] ?? '');
    const ref = cells[REF]?.trim() ?? '';
    if (nif === null || ref === '') return this.#withoutInvoice(entries.length, identityFindings(first, cells));
    const problems = shapeProblems(record);
    for (const problem of problems)
      this.#damage.add(first + (problem.line ?? 0), [shapeFinding(first + (problem.line ?? 0), problem)]);
    if (lines.length === 0 && problems.every(({ path }) => path !== 'lines')) {
      this.#damage.add(first, [located(first, 'lines', 'lines-missing', 'expected at least one line, found none')]);
    }
    this.#requireNoDiscount(first, '', record);
    for (const line of entries) {
      this.#reading.counts.rows += 1;
      this.#requireNoDiscount(this.#reading.counts.rows, 'lines[].', line);
      this.#observe(this.#reading.counts.rows, line);
      this.#reading.writer.add({
        row: this.#reading.counts.rows,
        ref,
        nif,
        object: this.#object,
        cells: cellsOf(record, line),
      });
    }
  }

  #requireNoDiscount(row: number, prefix: string, value: JsonValue | undefined): void {
    if (!isObject(value)) return;
    const known = KNOWN[prefix];
    for (const name in value) {
      const said = value[name];
      if (said === undefined || known?.has(name) === true || !isDiscount(name, this.#reading.options)) continue;
      const finding = discountFinding(row, shorten(name, 60), typeof said === 'string' ? said : jsonText(said));
      if (finding !== null) this.#damage.add(row, [finding]);
    }
  }

  /** A number in quotes is a text, and says no more about its decimal mark than a cell of a CSV file does. */
  #observe(row: number, line: JsonValue | undefined): void {
    if (!isObject(line)) return;
    for (const column of NUMBER_COLUMNS) {
      const value = line[column];
      if (value instanceof JsonNumber)
        this.#evidence[column].observeToken(row, expandExponent(value.text) ?? value.text);
      else if (typeof value === 'string') this.#evidence[column].observe(row, value);
    }
  }

  #withoutInvoice(rows: number, findings: readonly Finding[]): void {
    this.#reading.counts.rows += rows;
    this.#reading.counts.rowsWithoutInvoice += rows;
    this.#reading.counts.rowsLost += rows;
    for (const finding of findings) this.#reading.findings.add(finding);
  }

  #noteReadAs(row: number, value: JsonValue | undefined): void {
    if (typeof value !== 'string') return;
    this.readAs ??= value;
    if (value === this.readAs) return;
    throw new Refusal(
      'corrections-mixed',
      `Row ${row}: expected ${READ_AS} "${shorten(this.readAs, 80)}" as above, found "${shorten(value, 80)}". These objects come from files that are read in different ways: drop each corrections file alone`,
      { row },
    );
  }

  #noteIgnored(record: JsonObject): void {
    this.#noteUnknown('', record);
    this.#noteUnknown('merchant.', record['merchant']);
    this.#noteUnknown('customer.', record['customer']);
    if (Array.isArray(record['lines'])) for (const line of record['lines']) this.#noteUnknown('lines[].', line);
  }

  #noteUnknown(prefix: string, value: JsonValue | undefined): void {
    if (!isObject(value)) return;
    const known = KNOWN[prefix];
    for (const key in value)
      if (known?.has(key) !== true && this.ignored.size < MOST_IGNORED) this.ignored.add(prefix + shorten(key, 60));
  }
}

function identityFindings(row: number, cells: readonly (string | null)[]): readonly Finding[] {
  const problem = nifProblem(cells[NIF] ?? '');
  const findings = problem === null ? [] : [located(row, JSON_PATHS.merchant_nif, problem.code, problem.message)];
  if ((cells[REF]?.trim() ?? '') !== '') return findings;
  return [
    ...findings,
    located(row, JSON_PATHS.invoice_ref, 'reference-missing', "expected the invoice's reference, found none"),
  ];
}

function located(row: number, column: string | null, code: string, message: string): Finding {
  return {
    row,
    column,
    code,
    message: `Row ${row}${column === null ? '' : `, ${column}`}: ${message}`,
    severity: 'error',
  };
}
