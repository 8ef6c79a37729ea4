import { z } from 'zod';
import type { Finding } from '../../domain/invoice.ts';
import { COLUMNS } from '../../domain/row.ts';
import type { Column } from '../../domain/row.ts';
import { JsonNumber, isObject } from './json-value.ts';
import type { JsonObject, JsonValue } from './json-value.ts';

/** Where each column stands in an invoice object. */
export const JSON_PATHS: Readonly<Record<Column, string>> = {
  invoice_ref: 'invoice_ref',
  merchant_nif: 'merchant.nif',
  merchant_legal_name: 'merchant.legal_name',
  merchant_email: 'merchant.email',
  customer_name: 'customer.name',
  customer_tax_id: 'customer.tax_id',
  currency: 'currency',
  description: 'lines[].description',
  quantity: 'lines[].quantity',
  unit_price: 'lines[].unit_price',
  tax_code: 'lines[].tax_code',
};

/** Of each column, whether it stands in the lines, and its one or two names. Looked up for each line of a file: taken apart once. */
const PLACES = COLUMNS.map((column) => {
  const [first = '', second = ''] = JSON_PATHS[column].split('.');
  return { isOfLine: first === 'lines[]', first, second };
});

const text = z.string().nullish();
/** Digits may come as a number; anything with a fraction or an exponent is no identifier. */
const identifier = z
  .union([z.string(), z.instanceof(JsonNumber).refine((number) => /^\d+$/.test(number.text), 'expected digits')])
  .nullish();
const number = z.union([z.string(), z.instanceof(JsonNumber)]).nullish();
const Line = z.object({ description: text, quantity: number, unit_price: number, tax_code: text });
const InvoiceShape = z.object({
  invoice_ref: identifier,
  merchant: z.object({ nif: identifier, legal_name: text, email: text }).nullish(),
  customer: z.object({ name: text, tax_id: identifier }).nullish(),
  currency: text,
  lines: z.array(Line),
});

/** Where the value of a wrong type stands; line null: in the invoice's own members. */
export interface ShapeProblem {
  readonly line: number | null;
  readonly path: string;
  readonly message: string;
}

/** Values of a wrong type in an invoice object. */
export function shapeProblems(record: JsonObject): readonly ShapeProblem[] {
  const parsed = InvoiceShape.safeParse(record);
  if (parsed.success) return [];
  return parsed.error.issues.map(({ path }) => {
    const line = path[0] === 'lines' && typeof path[1] === 'number' ? path[1] : null;
    const words = path
      .map((part) => (typeof part === 'number' ? '[]' : `.${String(part)}`))
      .join('')
      .slice(1);
    const found = kindOf(path.reduce<JsonValue | undefined>(step, record));
    return { line, path: words, message: `expected ${expectedAt(words)}, found ${found}` };
  });
}

/** Cells of one line of an invoice, as far as they are texts or numbers. */
export function cellsOf(record: JsonObject, line: JsonValue | undefined): readonly (string | null)[] {
  return PLACES.map(({ isOfLine, first, second }) => {
    if (isOfLine) return scalar(isObject(line) ? line[second] : undefined);
    const value = record[first];
    return scalar(second === '' ? value : isObject(value) ? value[second] : undefined);
  });
}

/** A finding about a value of an invoice object. */
export function shapeFinding(row: number, { path, message }: ShapeProblem): Finding {
  return { row, column: path, code: 'json-shape', message: `Row ${row}, ${path}: ${message}`, severity: 'error' };
}

function scalar(value: JsonValue | undefined): string | null {
  if (typeof value === 'string') return value;
  return value instanceof JsonNumber ? value.text : null;
}

function step(value: JsonValue | undefined, part: PropertyKey): JsonValue | undefined {
  if (Array.isArray(value)) return typeof part === 'number' ? value[part] : undefined;
  return isObject(value) && typeof part === 'string' ? value[part] : undefined;
}

function expectedAt(path: string): string {
  if (path === 'lines') return 'a list of lines';
  if (path === 'lines[]' || path === 'merchant' || path === 'customer') return 'an object';
  if (path.endsWith('quantity') || path.endsWith('unit_price')) return 'a number';
  return path.endsWith('nif') || path.endsWith('tax_id') || path === 'invoice_ref' ? 'a text, or digits' : 'a text';
}

function kindOf(value: JsonValue | undefined): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (value instanceof JsonNumber) return `the number ${value.text.slice(0, 40)}`;
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
