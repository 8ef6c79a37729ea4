/** A placeholder of a template: its name, and how its value is written. */
export interface Placeholder {
  readonly name: string;
  readonly as: 'text' | 'number' | null;
}

/** In an object that is alone in a list: the object stands once for each line. */
const EACH = '$each';

/** What a body holds under each name: `optional` may be left out. */
export interface ValueForm {
  readonly kind: 'text' | 'number' | 'list';
  /** Of a text that is no free one: what it is made of. */
  readonly letters: RegExp | null;
  readonly optional: boolean;
}

const FREE: ValueForm = { kind: 'text', letters: null, optional: false };
const NUMBER: ValueForm = { kind: 'number', letters: /[-0-9.]/, optional: false };

const FORMS: Readonly<Record<string, ValueForm>> = {
  merchant_id: { ...FREE, letters: /[A-Za-z0-9_-]/ },
  'customer.tax_id': { ...FREE, optional: true },
  currency: { ...FREE, letters: /[A-Z]/ },
  reference: { ...FREE, optional: true },
  quantity: NUMBER,
  unit_price: NUMBER,
  nif: { ...FREE, letters: /[0-9]/ },
  email: { ...FREE, letters: /[^\s]/, optional: true },
  url: { ...FREE, letters: /[^\s]/ },
  events: { kind: 'list', letters: null, optional: false },
};

const LINE_NAMES = new Set(['description', 'quantity', 'unit_price', 'tax_code']);

/** What stands under a name. */
export function formOf(name: string): ValueForm {
  return FORMS[name] ?? FREE;
}

/** Whether each line has a value of its own under that name. */
export function isOfLine(name: string): boolean {
  return LINE_NAMES.has(name);
}

/** A text of a template: plain text and placeholders in turn. */
export function partsOf(text: string): readonly (string | Placeholder)[] {
  return text
    .split(/(\{[^{}]*\})/)
    .filter((part) => part !== '')
    .map((part) => {
      if (!/^\{[^{}]*\}$/.test(part)) return part;
      const [name = '', as] = part.slice(1, -1).split(':');
      return { name, as: as === 'text' || as === 'number' ? as : null };
    });
}

/** The placeholder that is the whole of a text; null: there is more to it. */
export function soleOf(node: unknown): Placeholder | null {
  const [only, ...more] = typeof node === 'string' ? partsOf(node) : [];
  return typeof only === 'object' && more.length === 0 ? only : null;
}

/** The object that a list holds once for each line; null: the list is a plain one. */
export function eachOf(nodes: readonly unknown[]): Readonly<Record<string, unknown>> | null {
  const [only] = nodes;
  if (nodes.length !== 1 || !isObject(only) || !Object.hasOwn(only, EACH)) return null;
  return Object.fromEntries(Object.entries(only).filter(([key]) => key !== EACH));
}

/** True for an object of a template. */
export function isObject(node: unknown): node is Readonly<Record<string, unknown>> {
  return typeof node === 'object' && node !== null && !Array.isArray(node);
}

/** All texts of a template that hold a placeholder. */
export function textsOf(node: unknown): readonly string[] {
  if (typeof node === 'string') return node.includes('{') ? [node] : [];
  if (Array.isArray(node)) return (eachOf(node) === null ? node : [eachOf(node)]).flatMap(textsOf);
  return isObject(node) ? Object.values(node).flatMap(textsOf) : [];
}
