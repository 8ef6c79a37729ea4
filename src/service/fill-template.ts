import { isPlainObject } from '../domain/plain-object.ts';
import { isCanonicalDecimal } from '../domain/money.ts';
import { EACH, partsOf, type BodyTemplate, type Placeholder } from '../service-profile/body-template.ts';
import { exactConstant, exactJson, exactNumber, type ExactJson } from './exact-json.ts';

/** Values by the names that a template may use; undefined: the invoice has none. */
export type TemplateValues = Readonly<Record<string, ExactJson | undefined>>;

/** A template's values, and those of each line for the object under `$each`. */
export interface FilledWith {
  readonly values: TemplateValues;
  readonly lines?: readonly TemplateValues[];
}

/** The bytes of a request by the template of the profile: the same values always give the same bytes. */
export function fillTemplate(template: BodyTemplate, filling: FilledWith): string {
  return exactJson(fill(template, filling) ?? exactConstant(null));
}

/** Undefined: the whole of it is a placeholder without a value, and its member is left out. */
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
  // What is no number cannot become one: the service then refuses it, and says so.
  return as === 'number' && isCanonicalDecimal(text) ? exactNumber(text) : text;
}

function textOf(value: ExactJson | undefined): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : exactJson(value);
}

function present(values: readonly (ExactJson | undefined)[]): readonly ExactJson[] {
  return values.filter((value) => value !== undefined);
}
