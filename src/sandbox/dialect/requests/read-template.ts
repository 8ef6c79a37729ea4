import type { Problem } from '../../validation/field.ts';
import { eachOf, formOf, isObject, isOfLine, partsOf, soleOf, type Placeholder } from './template.ts';
import { isList, isMap, isNumber, parseTokens, tokenText, type TokenJson } from './token-json.ts';

/** The values that a body holds, by the names of the template. */
export interface ReadValues {
  readonly values: Map<string, TokenJson>;
  readonly lines: Map<string, TokenJson>[];
}

/** Reads the values out of a body by the template that wrote it; a problem when the body is not as the template says. */
export function readByTemplate(template: unknown, body: TokenJson): ReadValues | Problem {
  try {
    return new TemplateReader().read(template, body);
  } catch (error) {
    if (error instanceof NotAsTemplate) return error.problem;
    throw error;
  }
}

class NotAsTemplate extends Error {
  readonly problem: Problem;

  constructor(code: Problem['code'], field: string, message: string) {
    super(message);
    this.problem = { code, field, message };
  }
}

interface Scope {
  readonly at: string;
  /** Null: outside the lines. */
  readonly line: Map<string, TokenJson> | null;
}

/** A text with more than a placeholder in it, which is read when the others are known. */
interface Mixed {
  readonly parts: readonly (string | Placeholder)[];
  readonly text: string;
  readonly scope: Scope;
}

const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

class TemplateReader {
  readonly #values = new Map<string, TokenJson>();
  readonly #lines: Map<string, TokenJson>[] = [];
  readonly #mixed: Mixed[] = [];
  /** Names that stand alone somewhere: without a value there, they have none. */
  readonly #alone = new Set<string>();

  read(template: unknown, body: TokenJson): ReadValues {
    this.#match(template, body, { at: '', line: null });
    for (const one of this.#mixed.toSorted((a, b) => namesIn(a).size - namesIn(b).size)) this.#readMixed(one);
    return { values: this.#values, lines: this.#lines };
  }

  #match(node: unknown, body: TokenJson, scope: Scope): void {
    if (typeof node === 'string') this.#matchText(node, body, scope);
    else if (Array.isArray(node)) this.#matchList(node, body, scope);
    else if (isObject(node)) this.#matchObject(node, body, scope);
    else if (!isConstant(body, node)) throw invalid(scope, `expected ${JSON.stringify(node)}`);
  }

  #matchText(node: string, body: TokenJson, scope: Scope): void {
    const sole = soleOf(node);
    if (sole !== null) {
      this.#put(sole.name, valueAlone(sole, body, scope), scope);
      return;
    }
    if (typeof body !== 'string') throw invalid(scope, 'expected a text');
    const parts = partsOf(node);
    if (parts.some((part) => typeof part === 'object')) this.#mixed.push({ parts, text: body, scope });
    else if (body !== node) throw invalid(scope, `expected ${JSON.stringify(node)}`);
  }

  #matchList(nodes: readonly unknown[], body: TokenJson, scope: Scope): void {
    if (!isList(body)) throw invalid(scope, 'expected a list');
    const each = eachOf(nodes);
    if (each !== null) {
      for (const [index, item] of body.entries()) {
        const line = new Map<string, TokenJson>();
        this.#lines.push(line);
        this.#matchObject(each, item, { at: `${scope.at}[${index}]`, line });
      }
      return;
    }
    const present = nodes.length === body.length ? nodes : nodes.filter((node) => !this.#mayBeAbsent(node));
    if (present.length !== body.length) throw invalid(scope, `expected a list of ${nodes.length}`);
    for (const [index, item] of body.entries())
      this.#match(present[index], item, { ...scope, at: `${scope.at}[${index}]` });
  }

  #matchObject(node: Readonly<Record<string, unknown>>, body: TokenJson, scope: Scope): void {
    if (!isMap(body)) throw invalid(scope, 'expected an object');
    const below = (key: string): Scope => ({ ...scope, at: scope.at === '' ? key : `${scope.at}.${key}` });
    for (const [key, inner] of Object.entries(node)) {
      const found = body.get(key);
      if (found !== undefined) this.#match(inner, found, below(key));
      else if (!this.#mayBeAbsent(inner)) throw new NotAsTemplate('field_missing', below(key).at, 'is required.');
    }
    for (const key of body.keys()) {
      if (!Object.hasOwn(node, key))
        throw new NotAsTemplate('field_unknown', below(key).at, 'is not a field of this request.');
    }
  }

  #mayBeAbsent(node: unknown): boolean {
    const sole = soleOf(node);
    if (sole === null || !formOf(sole.name).optional) return false;
    this.#alone.add(sole.name);
    return true;
  }

  #put(name: string, value: TokenJson, scope: Scope): void {
    const values = isOfLine(name) ? (scope.line ?? this.#values) : this.#values;
    const before = values.get(name);
    if (before !== undefined && tokenText(before) !== tokenText(value))
      throw invalid(scope, `expected the same ${name} as elsewhere in the body`);
    values.set(name, value);
  }

  #readMixed({ parts, text, scope }: Mixed): void {
    const groups: string[] = [];
    const pattern = parts.map((part) => {
      if (typeof part === 'string') return escaped(part);
      const known = scope.line?.get(part.name) ?? this.#values.get(part.name);
      if (known !== undefined) return escaped(writtenText(known));
      if (this.#alone.has(part.name)) return '';
      const group = groups.indexOf(part.name);
      if (group >= 0) return `\\${group + 1}`;
      groups.push(part.name);
      const { letters } = formOf(part.name);
      return letters === null ? '([^]*)' : `(${letters.source}*)`;
    });
    const match = new RegExp(`^${pattern.join('')}$`).exec(text);
    if (match === null) throw invalid(scope, 'expected the text of the template around its values');
    for (const [index, name] of groups.entries()) {
      const found = match[index + 1] ?? '';
      if (found !== '' || !formOf(name).optional) this.#put(name, valueOfText(name, found, scope), scope);
    }
  }
}

function namesIn({ parts }: Mixed): ReadonlySet<string> {
  return new Set(parts.flatMap((part) => (typeof part === 'string' ? [] : [part.name])));
}

function valueAlone({ name, as }: Placeholder, body: TokenJson, scope: Scope): TokenJson {
  const { kind } = formOf(name);
  if (kind === 'list' && as === null) {
    if (isList(body)) return body;
    throw invalid(scope, 'expected a list');
  }
  if (isNumber(body)) {
    if (as === 'number' || (as === null && kind === 'number')) return kind === 'number' ? body : body.token;
    throw invalid(scope, 'expected a text');
  }
  if (typeof body !== 'string') throw invalid(scope, `expected a ${kind === 'number' ? 'number' : 'text'}`);
  if (as === null && kind === 'number') throw invalid(scope, 'expected a JSON number');
  return valueOfText(name, body, scope);
}

function valueOfText(name: string, text: string, scope: Scope): TokenJson {
  const { kind } = formOf(name);
  if (kind === 'text') return text;
  if (kind === 'number' && NUMBER.test(text)) return { token: text };
  try {
    if (kind === 'list') return parseTokens(text);
  } catch {
    // Told below.
  }
  throw invalid(scope, `expected a ${kind} in the text`);
}

function writtenText(value: TokenJson): string {
  return typeof value === 'string' ? value : tokenText(value);
}

function isConstant(body: TokenJson, constant: unknown): boolean {
  return isNumber(body) ? Number(body.token) === constant : body === constant;
}

function invalid({ at }: Scope, message: string): NotAsTemplate {
  return new NotAsTemplate('field_invalid', at, `${message}.`);
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
