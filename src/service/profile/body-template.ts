import { isPlainObject } from '../../domain/json-pointer.ts';

/** JSON of a request body in which `{name}` stands for a value; null: as published. See docs/service-profile.md. */
export type BodyTemplate = string | number | boolean | null | BodyTemplate[] | { [member: string]: BodyTemplate };

/** The request whose body a template describes. */
export type BodyKind = 'invoice' | 'merchant' | 'webhook';

/** A placeholder in a text: its name, and the form of the written value. */
export interface Placeholder {
  readonly name: string;
  /** `text`: writes even a number as text; `number`: writes even a text as a number; null: keeps the value's type. */
  readonly as: 'text' | 'number' | null;
}

/** The key that repeats its object, which must be alone in a list, once for each line. */
export const EACH = '$each';

const LINE = ['description', 'quantity', 'unit_price', 'tax_code'];
const NAMES: Readonly<Record<BodyKind, readonly string[]>> = {
  invoice: ['merchant_id', 'customer.name', 'customer.tax_id', 'currency', 'reference'],
  merchant: ['legal_name', 'nif', 'email'],
  webhook: ['url', 'events'],
};
/** Names that each body must contain for a correct result. */
const NEEDED: Readonly<Record<BodyKind, readonly string[]>> = {
  invoice: ['merchant_id', 'customer.name', ...LINE],
  merchant: ['nif', 'legal_name'],
  webhook: ['url'],
};

const PLACEHOLDER = /\{([^{}]*)\}/g;

/** Splits a text into plain text and placeholders, in order. */
export function partsOf(text: string): readonly (string | Placeholder)[] {
  const parts: (string | Placeholder)[] = [];
  let from = 0;
  for (const match of text.matchAll(PLACEHOLDER)) {
    if (match.index > from) parts.push(text.slice(from, match.index));
    const [name = '', as] = (match[1] ?? '').split(':');
    parts.push({ name, as: as === 'text' || as === 'number' ? as : null });
    from = match.index + match[0].length;
  }
  if (from < text.length) parts.push(text.slice(from));
  return parts;
}

/** Returns why a template cannot be used, as a phrase; null if it can. */
export function templateMistake(template: BodyTemplate, kind: BodyKind): string | null {
  const used = new Set<string>();
  const mistake = mistakeIn(template, { names: NAMES[kind], lines: kind === 'invoice', used });
  if (mistake !== null) return mistake;
  const missing = NEEDED[kind].find((name) => !used.has(name));
  return missing === undefined ? null : `must hold {${missing}}`;
}

interface Scope {
  readonly names: readonly string[];
  readonly lines: boolean;
  readonly used: Set<string>;
}

function mistakeIn(node: unknown, scope: Scope): string | null {
  if (typeof node === 'string') return mistakeInText(node, scope);
  if (Array.isArray(node)) {
    const [only] = node as readonly unknown[];
    if (node.length === 1 && isPlainObject(only) && EACH in only) return mistakeInEach(only, scope);
    return firstMistake(node, scope);
  }
  if (!isPlainObject(node)) return null;
  if (EACH in node) return `must hold ${EACH} only in an object that is alone in a list`;
  return firstMistake(Object.values(node), scope);
}

function firstMistake(nodes: readonly unknown[], scope: Scope): string | null {
  for (const node of nodes) {
    const mistake = mistakeIn(node, scope);
    if (mistake !== null) return mistake;
  }
  return null;
}

function mistakeInEach({ [EACH]: what, ...item }: Record<string, unknown>, scope: Scope): string | null {
  if (what !== 'lines' || !scope.lines) return `must name "lines" of an invoice at ${EACH}`;
  return firstMistake(Object.values(item), { ...scope, names: [...scope.names, ...LINE], lines: false });
}

function mistakeInText(text: string, { names, used }: Scope): string | null {
  for (const [whole, inner = ''] of text.matchAll(PLACEHOLDER)) {
    const [name = '', as, ...more] = inner.split(':');
    if (!names.includes(name))
      return `must hold only ${names.map((one) => `{${one}}`).join(', ')} here, found ${whole}`;
    if (more.length > 0 || (as !== undefined && as !== 'text' && as !== 'number'))
      return `must say :text or :number in ${whole}, or nothing`;
    used.add(name);
  }
  return null;
}
