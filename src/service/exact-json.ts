import { isCanonicalDecimal } from '../domain/money.ts';

/** A number whose digits are written as they are, never through a float. */
export interface ExactNumber {
  readonly exact: string;
}

/** JSON to be written, with numbers whose digits stay. */
export type ExactJson = string | ExactNumber | readonly ExactJson[] | ExactJsonObject;

/** Members whose value is undefined are left out. */
export interface ExactJsonObject {
  readonly members: Readonly<Record<string, ExactJson | undefined>>;
}

/**
 * A decimal as a JSON number token.
 * @throws RangeError when the text is not a canonical decimal: a wrong token here would be a wrong amount on an invoice.
 */
export function exactNumber(text: string): ExactNumber {
  if (!isCanonicalDecimal(text)) {
    throw new RangeError(
      `Writing a number into a request: expected a canonical decimal, found ${JSON.stringify(text.slice(0, 40))}`,
    );
  }
  return { exact: text };
}

/** Constants of a template: a number as JavaScript writes it, true, false, null. */
export function exactConstant(value: number | boolean | null): ExactNumber {
  return { exact: JSON.stringify(value) };
}

/** JSON text without white space, members in the order given. JSON.stringify cannot do it: it knows numbers as floats only. */
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
