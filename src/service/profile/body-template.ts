import { FIELDS, sentBy, type Invoice, type InvoiceLine } from '../../domain/invoice.ts';
import { isPlainObject } from '../../domain/json-pointer.ts';
import { isCanonicalDecimal } from '../../domain/money.ts';

/** The request whose body a template describes. */
type BodyKind = 'invoice' | 'merchant' | 'webhook';

/** JSON text that is written unchanged, such as a number whose digits must never go through a float. */
class Verbatim {
  readonly json: string;

  constructor(json: string) {
    this.json = json;
  }
}

/** JSON to be written, with numbers whose digits stay unchanged. Members with the value undefined are omitted. */
export type ExactJson = string | Verbatim | readonly ExactJson[] | { readonly [member: string]: ExactJson | undefined };

/**
 * Returns a decimal as a JSON number token.
 * @throws RangeError if the text is not a canonical decimal: a wrong token would be a wrong amount on an invoice.
 */
export function exactNumber(text: string): ExactJson {
  if (isCanonicalDecimal(text)) return new Verbatim(text);
  throw new RangeError(
    `Writing a number into a request: expected a canonical decimal, found ${JSON.stringify(text.slice(0, 40))}`,
  );
}

/**
 * Returns JSON text without white space, with members in the given order. JSON.stringify knows numbers only as floats.
 */
export function exactJson(value: ExactJson): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (isList(value)) return `[${value.map((item) => exactJson(item)).join(',')}]`;
  if (value instanceof Verbatim) return value.json;
  const members: string[] = [];
  for (const [name, member] of Object.entries(value)) {
    if (member !== undefined) members.push(`${JSON.stringify(name)}:${exactJson(member)}`);
  }
  return `{${members.join(',')}}`;
}

/** Array.isArray alone does not narrow a readonly array out of a union. */
function isList(value: ExactJson): value is readonly ExactJson[] {
  return Array.isArray(value);
}

/** Values by the names that a template may use; undefined if the invoice has no such value. */
type TemplateValues = Readonly<Record<string, ExactJson | undefined>>;

/** A template's values, and the values of each line for the object under `$each`. */
interface FilledWith {
  readonly values: TemplateValues;
  readonly lines?: readonly TemplateValues[];
}

/** Says why a template cannot be filled, as a phrase. */
class TemplateProblem extends Error {}

/** The key that repeats its object, which must be alone in a list, once for each line. */
const EACH = '$each';
const LINE = ['description', 'quantity', 'unit_price', 'tax_code'];
const NAMES: Readonly<Record<BodyKind, readonly string[]>> = {
  invoice: ['merchant_id', ...Object.values(FIELDS).flatMap(({ path, sent }) => (sent ? path : [])), 'reference'],
  merchant: ['legal_name', 'nif', 'email'],
  webhook: ['url', 'events'],
};
/** Names that each body must contain for a correct result. */
const NEEDED: Readonly<Record<BodyKind, readonly string[]>> = {
  invoice: ['merchant_id', 'customer.name', ...LINE],
  merchant: ['nif', 'legal_name'],
  webhook: ['url'],
};

/** Returns why a template cannot be used, as a phrase; null if it can. Fills it with a mark for each name. */
export function templateMistake(template: unknown, kind: BodyKind): string | null {
  const mark = (name: string): string => `<<${name}>>`;
  const marks = (names: readonly string[]): TemplateValues =>
    Object.fromEntries(names.map((name) => [name, mark(name)]));
  const lines = kind === 'invoice' ? { lines: [marks(LINE)] } : {};
  try {
    const text = fillTemplate(template, { values: marks(NAMES[kind]), ...lines });
    const missing = NEEDED[kind].find((name) => !text.includes(mark(name)));
    return missing === undefined ? null : `must hold {${missing}}`;
  } catch (error) {
    if (error instanceof TemplateProblem) return error.message;
    throw error;
  }
}

/**
 * Returns the text of a request by a template: JSON in which `{name}` stands for a value (docs/service-profile.md). The
 * same values always give the same bytes.
 */
export function fillTemplate(template: unknown, filling: FilledWith): string {
  return exactJson(fill(template, filling) ?? new Verbatim('null'));
}

/**
 * Returns the exact text of the creating POST; the same invoice always gives the same bytes. The text follows the
 * template of the profile, or (interface section 2) has only the published fields in their published order.
 */
export function invoiceBody(invoice: Invoice, merchantId: string, template: unknown = null): string {
  const said = sentBy(invoice);
  const lines = invoice.lines.map(lineOf);
  if (template !== null)
    return fillTemplate(template, { values: { merchant_id: merchantId, ...said, reference: invoice.ref }, lines });
  const { 'customer.name': name, 'customer.tax_id': taxId, ...others } = said;
  // Omits the reference: it belongs to Lote and the interface has no field for it.
  return exactJson({ merchant_id: merchantId, customer: { name, tax_id: taxId }, ...others, lines });
}

function lineOf({ description, quantity, unitPrice, taxCode }: InvoiceLine) {
  return { description, quantity: exactNumber(quantity), unit_price: exactNumber(unitPrice), tax_code: taxCode };
}

/** Returns undefined if the node is a single placeholder without a value; the caller then omits its member. */
function fill(node: unknown, filling: FilledWith): ExactJson | undefined {
  if (typeof node === 'string') return fillText(node, filling.values);
  if (Array.isArray(node)) {
    const [only] = node as readonly unknown[];
    if (node.length === 1 && isPlainObject(only) && EACH in only) return fillEach(only, filling);
    return node.map((one) => fill(one, filling)).filter((value) => value !== undefined);
  }
  if (!isPlainObject(node)) return new Verbatim(JSON.stringify(node ?? null));
  if (EACH in node) throw new TemplateProblem(`must hold ${EACH} only in an object that is alone in a list`);
  return fillObject(node, filling);
}

function fillEach({ [EACH]: what, ...item }: Record<string, unknown>, { values, lines }: FilledWith): ExactJson {
  if (what !== 'lines' || lines === undefined) throw new TemplateProblem(`must name "lines" of an invoice at ${EACH}`);
  return lines.map((line) => fillObject(item, { values: { ...values, ...line } }));
}

function fillObject(node: Readonly<Record<string, unknown>>, filling: FilledWith): ExactJson {
  return Object.fromEntries(Object.entries(node).map(([name, below]) => [name, fill(below, filling)]));
}

function fillText(text: string, values: TemplateValues): ExactJson | undefined {
  const parts = text
    .split(/(\{[^{}]*\})/)
    .filter((part) => part !== '')
    .map((part) => (/^\{[^{}]*\}$/.test(part) ? valueOf(part, values) : part));
  return parts.length === 1 ? parts[0] : parts.map(textOf).join('');
}

/** Returns the value of a placeholder. `:text` writes even a number as text, `:number` even a text as a number. */
function valueOf(placeholder: string, values: TemplateValues): ExactJson | undefined {
  const [name = '', as, ...more] = placeholder.slice(1, -1).split(':');
  if (!Object.hasOwn(values, name)) {
    const names = Object.keys(values).map((one) => `{${one}}`);
    throw new TemplateProblem(`must hold only ${names.join(', ')} here, found ${placeholder}`);
  }
  if (more.length > 0 || (as !== undefined && as !== 'text' && as !== 'number'))
    throw new TemplateProblem(`must say :text or :number in ${placeholder}, or nothing`);
  const value = values[name];
  if (value === undefined || as === undefined) return value;
  const text = textOf(value);
  // A text that is not a number stays a text: the service then refuses it and says why.
  return as === 'number' && isCanonicalDecimal(text) ? exactNumber(text) : text;
}

function textOf(value: ExactJson | undefined): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : exactJson(value);
}
