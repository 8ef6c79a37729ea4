import { type Node, type ParseError, parseTree } from 'jsonc-parser';

/** A number of JSON as it was written. */
export interface NumberToken {
  readonly token: string;
}

/** JSON whose numbers keep their digits. */
export type TokenJson = string | boolean | null | NumberToken | readonly TokenJson[] | ReadonlyMap<string, TokenJson>;

/** Reads JSON without rounding its numbers. @throws SyntaxError when it is none, or has a key twice in an object. */
export function parseTokens(text: string): TokenJson {
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { disallowComments: true });
  if (tree === undefined || errors.length > 0) throw new SyntaxError('no JSON');
  return valueOf(tree, text);
}

/** The text of such JSON. */
export function tokenText(value: TokenJson): string {
  if (isNumber(value)) return value.token;
  if (isMap(value)) {
    const members = [...value].map(([key, below]) => `${JSON.stringify(key)}:${tokenText(below)}`);
    return `{${members.join(',')}}`;
  }
  if (isList(value)) return `[${value.map(tokenText).join(',')}]`;
  return JSON.stringify(value);
}

/** True for a number. */
export function isNumber(value: TokenJson | undefined): value is NumberToken {
  return typeof value === 'object' && value !== null && 'token' in value;
}

/** True for an object. */
export function isMap(value: TokenJson | undefined): value is ReadonlyMap<string, TokenJson> {
  return value instanceof Map;
}

/** True for a list. */
export function isList(value: TokenJson | undefined): value is readonly TokenJson[] {
  return Array.isArray(value);
}

function valueOf(node: Node, text: string): TokenJson {
  const children = node.children ?? [];
  if (node.type === 'array') return children.map((child) => valueOf(child, text));
  if (node.type === 'number') return { token: text.slice(node.offset, node.offset + node.length) };
  if (node.type !== 'object') return node.value as string | boolean | null;
  const members = new Map<string, TokenJson>();
  for (const { children: [key, value] = [] } of children) {
    if (key === undefined || value === undefined) throw new SyntaxError('no JSON');
    if (members.has(key.value as string)) throw new SyntaxError('a key stands twice in an object');
    members.set(key.value as string, valueOf(value, text));
  }
  return members;
}
