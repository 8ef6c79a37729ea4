import type { Invoice, InvoiceLine } from '../domain/invoice.ts';
import { type BodyTemplate, EACH, partsOf, type Placeholder } from './profile/body-template.ts';
import { isCanonicalDecimal } from '../domain/money.ts';
import { isPlainObject } from '../domain/json-pointer.ts';

/**
 * Returns the exact text of the creating POST; the same invoice always gives the same bytes. The text follows the
 * template of the profile, or (interface section 2) has only the published fields in their published order.
 */
export function invoiceBody(invoice: Invoice, merchantId: string, template: BodyTemplate = null): string {
  return template === null ? publishedBody(invoice, merchantId) : bodyByTemplate(template, invoice, merchantId);
}

function bodyByTemplate(template: BodyTemplate, invoice: Invoice, merchantId: string): string {
  const { customer, currency, lines, ref } = invoice;
  return fillTemplate(template, {
    values: {
      merchant_id: merchantId,
      'customer.name': customer.name,
      'customer.tax_id': customer.taxId || undefined,
      currency,
      reference: ref,
    },
    lines: lines.map((line) => lineOf(line).members),
  });
}

/** Omits the reference: it belongs to Lote and the interface has no field for it. */
function publishedBody(invoice: Invoice, merchantId: string): string {
  return exactJson({
    members: {
      merchant_id: merchantId,
      customer: { members: { name: invoice.customer.name, tax_id: invoice.customer.taxId || undefined } },
      currency: invoice.currency,
      lines: invoice.lines.map(lineOf),
    },
  });
}

function lineOf(line: InvoiceLine): ExactJsonObject {
  return {
    members: {
      description: line.description,
      quantity: exactNumber(line.quantity),
      unit_price: exactNumber(line.unitPrice),
      tax_code: line.taxCode,
    },
  };
}

/** A number whose digits are written unchanged, never through a float. */
export interface ExactNumber {
  readonly exact: string;
}

/** JSON to be written, with numbers whose digits stay unchanged. */
export type ExactJson = string | ExactNumber | readonly ExactJson[] | ExactJsonObject;

/** An object to be written; members with the value undefined are omitted. */
export interface ExactJsonObject {
  readonly members: Readonly<Record<string, ExactJson | undefined>>;
}

/**
 * Returns a decimal as a JSON number token.
 * @throws RangeError if the text is not a canonical decimal: a wrong token would be a wrong amount on an invoice.
 */
export function exactNumber(text: string): ExactNumber {
  if (!isCanonicalDecimal(text)) {
    throw new RangeError(
      `Writing a number into a request: expected a canonical decimal, found ${JSON.stringify(text.slice(0, 40))}`,
    );
  }
  return { exact: text };
}

/** Returns a constant of a template: true, false, null, or a number as JavaScript writes it. */
function exactConstant(value: number | boolean | null): ExactNumber {
  return { exact: JSON.stringify(value) };
}

/**
 * Returns JSON text without white space, with members in the given order. JSON.stringify knows numbers only as floats.
 */
export function exactJson(value: ExactJson): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (isList(value)) return `[${value.map((item) => exactJson(item)).join(',')}]`;
  if ('exact' in value) return value.exact;
  const members: string[] = [];
  for (const [name, member] of Object.entries(value.members)) {
    if (member !== undefined) members.push(`${JSON.stringify(name)}:${exactJson(member)}`);
  }
  return `{${members.join(',')}}`;
}

/** Array.isArray alone does not narrow a readonly array out of a union. */
function isList(value: ExactJson): value is readonly ExactJson[] {
  return Array.isArray(value);
}

/** Values by the names that a template may use; undefined if the invoice has no such value. */
export type TemplateValues = Readonly<Record<string, ExactJson | undefined>>;

/** A template's values, and the values of each line for the object under `$each`. */
export interface FilledWith {
  readonly values: TemplateValues;
  readonly lines?: readonly TemplateValues[];
}

/** Returns the text of a request by the template of the profile: the same values always give the same bytes. */
export function fillTemplate(template: BodyTemplate, filling: FilledWith): string {
  return exactJson(fill(template, filling) ?? exactConstant(null));
}

/** Returns undefined if the node is a single placeholder without a value; the caller then omits its member. */
function fill(node: unknown, filling: FilledWith): ExactJson | undefined {
  if (typeof node === 'string') return fillText(node, filling.values);
  if (Array.isArray(node)) return fillList(node, filling);
  if (isPlainObject(node)) return fillObject(node, filling);
  return exactConstant(typeof node === 'number' || typeof node === 'boolean' ? node : null);
}

function fillList(nodes: readonly unknown[], filling: FilledWith): ExactJson {
  const [only] = nodes;
  if (nodes.length !== 1 || !isPlainObject(only) || !(EACH in only))
    return present(nodes.map((one) => fill(one, filling)));
  const { [EACH]: _lines, ...item } = only;
  const { values, lines = [] } = filling;
  return lines.map((line) => fillObject(item, { values: { ...values, ...line } }));
}

function fillObject(node: Readonly<Record<string, unknown>>, filling: FilledWith): ExactJson {
  return { members: Object.fromEntries(Object.entries(node).map(([name, below]) => [name, fill(below, filling)])) };
}

function fillText(text: string, values: TemplateValues): ExactJson | undefined {
  const parts = partsOf(text);
  const [only] = parts;
  if (parts.length === 1 && typeof only === 'object') return valueOf(only, values);
  return parts.map((part) => (typeof part === 'string' ? part : textOf(values[part.name]))).join('');
}

function valueOf({ name, as }: Placeholder, values: TemplateValues): ExactJson | undefined {
  const value = values[name];
  if (value === undefined || as === null) return value;
  const text = textOf(value);
  // A text that is not a number stays a text: the service then refuses it and says why.
  return as === 'number' && isCanonicalDecimal(text) ? exactNumber(text) : text;
}

function textOf(value: ExactJson | undefined): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : exactJson(value);
}

function present(values: readonly (ExactJson | undefined)[]): readonly ExactJson[] {
  return values.filter((value) => value !== undefined);
}
