import { FIELDS, headOf, type InvoiceLine, type Invoice } from '../../domain/invoice.ts';
import { bySpelling, shownSpelling, fittingReference, LONGEST_REFERENCE } from '../../domain/look-alike.ts';
import { netOf } from '../../domain/money.ts';
import type { GroupedInvoice, RawRow, Column } from '../../domain/row.ts';
import { isCutReference, damagedReference, hasValidChecksum, isDamagedTaxId, isNoTaxId } from './identity.ts';
import { CellFindings, shownCell, cellOf } from '../findings.ts';
import { checkGroup } from './check-group.ts';
import type { Conversion, NumberColumn } from '../ingest-result.ts';
import { isPlaceholder, isTotalsDescription } from './no-value.ts';
import { LONGEST_NUMBER, expandExponent, readNumber, readTypedNumber } from './read-number.ts';

/** Makes one invoice of a group, or several if references or tax numbers only look alike. Pure. */
export function toInvoices(group: readonly RawRow[], conversion: Conversion): readonly GroupedInvoice[] {
  const spellings = bySpelling(group);
  return spellings.map((rows) => toInvoice(rows, conversion, spellings.find((other) => other !== rows)?.[0]));
}

/** Makes an invoice of the rows of one identity. `lookAlike` is a row of another one that looks the same. */
export function toInvoice(group: readonly RawRow[], conversion: Conversion, lookAlike?: RawRow): GroupedInvoice {
  const [first] = group;
  if (first === undefined) throw new RangeError('Building an invoice: expected at least one row, found none');
  const findings = new CellFindings(conversion.labels);
  for (const { row } of group) findings.addAll(conversion.damaged[row] ?? []);
  checkLostReference(group, conversion, findings);
  checkGroup(group, conversion, findings);
  checkCutReference(first, conversion, findings);
  if (lookAlike !== undefined && conversion.lookAlikes === 'refuse') checkLookAlike(first, lookAlike, findings);
  // A set, because one invoice may have 100,000 rows.
  const inPlace = new Set(group.filter((row) => !isShifted(row, conversion)));
  const head = sharedBy([...inPlace], findings);
  const given = { conversion, currency: head?.currency ?? '', findings };
  const lines = group.map((row) => (inPlace.has(row) && !hasNoLine(row, conversion) ? lineOf(row, given) : null));
  const readable = lines.filter((line): line is InvoiceLine => line !== null);
  const rows = group.map(({ row }) => row);
  if (!findings.hasError && readable.length === lines.length && head !== null) {
    const invoice = { ref: first.ref, ...head, lines: readable };
    return { ok: true, invoice, rows, findings: findings.list() };
  }
  return {
    ok: false,
    ref: fittingReference(first.ref),
    nif: first.nif,
    rows,
    currency: head?.currency || null,
    net: readable.length === lines.length ? netOf(readable) : null,
    findings: findings.list(),
  };
}

/** Rows of one identity may be lines of the other, and an issued invoice cannot be called back. */
function checkLookAlike(first: RawRow, other: RawRow, findings: CellFindings): void {
  if (other.nif !== first.nif) {
    const message = `found ${shownCell(first.nif)}, which differs from ${shownCell(other.nif)} of row ${other.row} only in the zeros in front, with a reference that is the same or looks so. A spreadsheet drops such zeros: write the tax number in the same way if they are of one merchant; if they are of two, keep them with --look-alikes keep`;
    findings.error(first.row, 'merchant_nif', 'nif-look-alike', message);
    return;
  }
  const message = `found ${JSON.stringify(shownSpelling(first.ref))}, which looks like ${JSON.stringify(shownSpelling(other.ref))} of row ${other.row} and is not the same. Write both in the same way if they are one invoice; if they are two, keep them with --look-alikes keep`;
  findings.error(first.row, 'invoice_ref', 'reference-look-alike', message);
}

/** Two invoices may have become one under a cut reference, and an issued invoice may now have another reference. */
function checkCutReference(first: RawRow, { areReferencesCut, lookAlikes }: Conversion, findings: CellFindings): void {
  if (areReferencesCut !== true || lookAlikes === 'keep' || !isCutReference(first.ref)) return;
  const message = `found ${shownCell(first.ref)}: a spreadsheet keeps 15 digits of a number, and every longer reference of this file, or of the one that it corrects, has only zeros behind them. Export the file again without a spreadsheet; if the references are right, run it, or its corrections, with --look-alikes keep`;
  findings.error(first.row, 'invoice_ref', 'reference-damaged', message);
}

/** A row with this reference whose tax number is unreadable may be another line of this invoice. */
function checkLostReference([first]: readonly RawRow[], { lostReferences }: Conversion, findings: CellFindings): void {
  if (first === undefined || !Object.hasOwn(lostReferences, first.ref)) return;
  const lost = lostReferences[first.ref];
  const message = `row ${lost} has the same reference and no usable tax number, and may be a line of this invoice, so the invoice is not sent. Correct the tax number of row ${lost}`;
  findings.error(first.row, 'invoice_ref', 'line-may-be-missing', message);
}

/** The cells of a shifted row may be in wrong columns, so further findings about them would mislead. */
function isShifted(row: RawRow, { damaged }: Conversion): boolean {
  return damaged[row.row]?.some((finding) => finding.code === 'cell-count') ?? false;
}

/** Returns true if the line object is missing or has a wrong type; a finding already reports it. */
function hasNoLine({ row }: RawRow, conversion: Conversion): boolean {
  return isJson(conversion) && conversion.damaged[row]?.some(({ column }) => column?.startsWith('lines')) === true;
}

/** Null without a row whose cells are in their columns. */
function sharedBy(group: readonly RawRow[], findings: CellFindings): Omit<Invoice, 'ref' | 'lines'> | null {
  const [first] = group;
  if (first === undefined) return null;
  checkIdentity(first, findings);
  return headOf(first.nif, (column) => {
    if (FIELDS[column].sent === undefined) return firstOf(group, column, findings);
    const value = agreed(group, first, column, findings);
    if (column === 'customer_tax_id') checkTaxId(value, first, findings);
    return value;
  });
}

function checkTaxId(taxId: string, { row }: RawRow, findings: CellFindings): void {
  if (isDamagedTaxId(taxId)) {
    const message = `expected a tax number, found ${shownCell(taxId)}: a spreadsheet turned it into a number. Format the column as text and enter it again`;
    findings.error(row, 'customer_tax_id', 'customer-tax-id-damaged', message);
  }
  if (taxId !== '' && isNoTaxId(taxId)) {
    const message = `expected a tax number, or an empty cell for a buyer without one, found ${shownCell(taxId)}`;
    findings.error(row, 'customer_tax_id', 'customer-tax-id-unreadable', message);
  }
}

function checkIdentity(first: RawRow, findings: CellFindings): void {
  const damage = damagedReference(first.ref);
  if (damage !== null) {
    const message = `expected a reference, found ${shownCell(first.ref)}: ${damage}. Format the column as text and enter it again`;
    findings.error(first.row, 'invoice_ref', 'reference-damaged', message);
  }
  if (first.ref.length > LONGEST_REFERENCE) {
    const message = `expected at most ${LONGEST_REFERENCE} characters, found ${first.ref.length}, which begin with ${shownCell(first.ref)}. Write the reference alone`;
    findings.error(first.row, 'invoice_ref', 'reference-too-long', message);
  }
  if (!hasValidChecksum(first.nif)) {
    const message = `expected nine digits with a valid check digit, found ${shownCell(first.nif)}; it is used as it is`;
    findings.warning(first.row, 'merchant_nif', 'nif-checksum', message);
  }
}

/** Returns the value that all rows share; '' with a finding if they differ, or if it is not what the column holds. */
function agreed(group: readonly RawRow[], first: RawRow, column: Column, findings: CellFindings): string {
  const { expected, form, isOptional = false } = FIELDS[column];
  const name = column.replaceAll('_', '-');
  const normal = (row: RawRow): string =>
    column === 'currency' ? cellOf(row, column).toUpperCase() : cellOf(row, column);
  const value = normal(first);
  const other = group.find((row) => normal(row) !== value);
  if (other !== undefined) {
    const message = `expected the same value in every row of an invoice, found ${shownCell(cellOf(other, column))} where row ${first.row} has ${shownCell(cellOf(first, column))}`;
    findings.error(other.row, column, `${name}-differs`, message);
    return '';
  }
  if (value === '') {
    if (!isOptional) findings.error(first.row, column, `${name}-missing`, `expected ${expected}, found an empty cell`);
    return '';
  }
  if (form === undefined || (form.test(value) && !isPlaceholder(value))) return value;
  findings.error(first.row, column, `${name}-unreadable`, `expected ${expected}, found ${shownCell(value)}`);
  return '';
}

/** A difference is only a warning, because merchant details are not sent with an invoice. */
function firstOf(group: readonly RawRow[], column: Column, findings: CellFindings): string {
  const first = group.find((row) => cellOf(row, column) !== '');
  if (first === undefined) return '';
  const value = cellOf(first, column);
  const other = group.find((row) => cellOf(row, column) !== '' && cellOf(row, column) !== value);
  if (other !== undefined) {
    const message = `found ${shownCell(cellOf(other, column))} where row ${first.row} has ${shownCell(value)}; the first one is used, and only when the merchant must be created`;
    findings.warning(other.row, column, `${column.replaceAll('_', '-')}-differs`, message);
  }
  return value;
}

const TAX_CODE = /^IVA_\d+(?:[._]\d+)?$/;

interface LineContext {
  readonly conversion: Conversion;
  readonly currency: string;
  readonly findings: CellFindings;
}

function lineOf(row: RawRow, given: LineContext): InvoiceLine | null {
  const { findings } = given;
  const description = cellOf(row, 'description');
  const taxCode = taxCodeOf(row, given.conversion, findings);
  if (description === '') {
    const message = 'expected a text, found an empty cell';
    findings.error(row.row, 'description', 'description-missing', message);
  } else if (isTotalsDescription(description)) {
    const message = `expected a product or service, found ${shownCell(description)}: a total as a line of the invoice would be charged twice. Remove the row, or describe what is sold`;
    findings.error(row.row, 'description', 'totals-row-in-invoice', message);
  }
  const quantity = numberCell(row, 'quantity', given);
  const unitPrice = numberCell(row, 'unit_price', given);
  return quantity === null || unitPrice === null ? null : { description, quantity, unitPrice, taxCode };
}

/** Returns the tax code to send: the profile's code for the file's word, or the word itself. */
function taxCodeOf(row: RawRow, { taxCodes }: Conversion, findings: CellFindings): string {
  const word = cellOf(row, 'tax_code');
  if (word === '') {
    const message = 'expected a tax code such as IVA_23, found an empty cell';
    findings.error(row.row, 'tax_code', 'tax-code-missing', message);
    return '';
  }
  if (taxCodes !== null) {
    if (Object.hasOwn(taxCodes, word)) return taxCodes[word] ?? '';
    if (Object.values(taxCodes).includes(word)) return word;
    const message = `expected a tax that the profile's taxCodes name, found ${shownCell(word)}. Add it to the profile, or correct the row`;
    findings.error(row.row, 'tax_code', 'tax-code-unmapped', message);
    return '';
  }
  if (!TAX_CODE.test(word)) {
    const message = `expected the form IVA_<rate>, found ${shownCell(word)}; it is sent as it is`;
    findings.warning(row.row, 'tax_code', 'tax-code-unusual', message);
  }
  return word;
}

/** More decimals than this come from float arithmetic (`12.340000000000002`), not from a real price. */
const MOST_DECIMALS = 8;
/** An amount whose sign does not match the currency of its invoice is a mistake. */
const CURRENCIES_OF: Readonly<Record<string, readonly string[]>> = {
  '€': ['EUR'],
  '£': ['GBP'],
  R$: ['BRL'],
  US$: ['USD'],
  '¥': ['JPY', 'CNY'],
  $: 'USD CAD AUD NZD HKD SGD TWD MXN ARS CLP COP UYU CVE'.split(' '),
};

function numberCell(row: RawRow, column: NumberColumn, given: LineContext): string | null {
  const { conversion, currency, findings } = given;
  const name = column.replace('_', '-');
  const cell = cellOf(row, column);
  if (cell === '') {
    findings.error(row.row, column, `${name}-missing`, 'expected a number, found an empty cell');
    return null;
  }
  const isWorkbook = conversion.format === 'xlsx' || conversion.format === 'ods';
  const typed = isWorkbook ? readTypedNumber(cell) : null;
  // Only programs write an exponent, with a decimal point.
  const exact = typed ?? (isJson(conversion) ? expandExponent(cell) : null);
  const text = exact ?? cell;
  const shown = typed ?? cell;
  const read = readNumber(text, exact === null ? conversion.decimal : '.');
  if (read === null) {
    findings.error(row.row, column, `${name}-unreadable`, unreadable(shown, conversion.decimal));
    return null;
  }
  if (read.currency !== null && (column === 'quantity' || !agrees(read.currency, currency))) {
    const expected = column === 'quantity' ? 'a quantity, which has no currency' : `an amount in ${currency}`;
    const message = `expected ${expected}, found ${shownCell(shown)}`;
    findings.error(row.row, column, `${name}-currency`, message);
    return null;
  }
  if (!/[1-9]/.test(read.value) || read.value.startsWith('-')) {
    const message = `expected more than zero, found ${shownCell(shown)}; it is sent as it is`;
    findings.warning(row.row, column, `${name}-not-positive`, message);
  }
  if ((read.value.split('.')[1] ?? '').length > MOST_DECIMALS) {
    const message = `expected at most ${MOST_DECIMALS} decimals, found ${shownCell(shown)}; nothing is rounded, it is sent as it is`;
    findings.warning(row.row, column, `${name}-decimals`, message);
  }
  return read.value;
}

function isJson({ format }: Conversion): boolean {
  return format === 'json' || format === 'ndjson';
}

function unreadable(cell: string, mark: string): string {
  const kind = mark === ',' ? 'a number with a decimal comma' : 'a decimal number';
  const found = `expected ${kind}, found ${shownCell(cell)}`;
  if (cell.length > LONGEST_NUMBER) return `${found}, ${cell.length} characters; at most ${LONGEST_NUMBER} can be read`;
  if (cell.endsWith('%')) return `${found}, a percentage`;
  if (/^[+-]?\d+(?:[.,]\d+)?E[+-]?\d+$/i.test(cell))
    return `${found}, in scientific notation. Write it out without an exponent`;
  return found;
}

function agrees(found: string, currency: string): boolean {
  return found === currency || CURRENCIES_OF[found]?.includes(currency) === true;
}
