import { createScanner, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import { positionAt } from './file-position.ts';
import type { ProfileMistake, ProfilePath } from './profile-mistake.ts';

/** Bytes of a profile's file, and objects and lists inside each other in it. */
export const PROFILE_FILE_LIMITS = { bytes: 256 * 1024, depth: 64 } as const;

/** The kinds of tokens of jsonc-parser, whose own names are gone at run time. */
const TOKEN = { openBrace: 1, closeBrace: 2, openBracket: 3, closeBracket: 4, endOfFile: 17 } as const;

/** A file that can be read as JSON. */
export interface ProfileFile {
  readonly text: string;
  readonly tree: Node;
  /** What the file says, without `$schema`. */
  readonly document: Readonly<Record<string, unknown>>;
  /** Keys that stand twice in one object. */
  readonly mistakes: readonly ProfileMistake[];
}

/** The JSON of a profile's file, with comments and trailing commas allowed; a mistake when it is none. */
export function readProfileFile(source: string): ProfileFile | ProfileMistake {
  if (Buffer.byteLength(source) > PROFILE_FILE_LIMITS.bytes)
    return whole(`must be at most ${PROFILE_FILE_LIMITS.bytes / 1024} kB long`);
  // Some editors begin a file with a byte order mark.
  const text = source.replace(/^\u{feff}/u, ' ');
  const tooDeep = firstTooDeep(text);
  if (tooDeep !== null)
    return at(text, tooDeep, `must hold at most ${PROFILE_FILE_LIMITS.depth} objects and lists inside each other`);
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error !== undefined || tree === undefined) return syntaxMistake(text, error);
  if (tree.type !== 'object')
    return at(text, tree.offset, `expected a JSON object at the top level, found ${tree.type}`);
  const mistakes: ProfileMistake[] = [];
  const document = valueOf(
    tree,
    [],
    (path, node) =>
      void mistakes.push({ ...at(text, node.offset, 'stands twice in this object; one of them must go'), path }),
  ) as Record<string, unknown>;
  return { text, tree, document: withoutSchema(document), mistakes };
}

/** Whether reading ended with a mistake. */
export function isMistake(read: ProfileFile | ProfileMistake): read is ProfileMistake {
  return 'message' in read;
}

function withoutSchema(document: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(document).filter(([key]) => key !== '$schema'));
}

/** The parser calls itself for each level, so the levels are counted before it runs. */
function firstTooDeep(text: string): number | null {
  const scanner = createScanner(text, true);
  let depth = 0;
  for (let token: number = scanner.scan(); token !== TOKEN.endOfFile; token = scanner.scan()) {
    if (token === TOKEN.openBrace || token === TOKEN.openBracket) depth += 1;
    if (token === TOKEN.closeBrace || token === TOKEN.closeBracket) depth -= 1;
    if (depth > PROFILE_FILE_LIMITS.depth) return scanner.getTokenOffset();
  }
  return null;
}

/** Object.fromEntries defines own properties, so that `__proto__` in the file is a key like any other. */
function valueOf(node: Node, path: ProfilePath, repeated: (path: ProfilePath, key: Node) => void): unknown {
  const children = node.children ?? [];
  if (node.type === 'array') return children.map((child, index) => valueOf(child, [...path, index], repeated));
  if (node.type !== 'object') return node.value as unknown;
  const entries = new Map<string, unknown>();
  for (const { children: [key, value] = [] } of children) {
    if (key === undefined || value === undefined) continue;
    const name = String(key.value);
    const below = [...path, name];
    if (entries.has(name)) repeated(below, key);
    entries.set(name, valueOf(value, below, repeated));
  }
  return Object.fromEntries(entries);
}

const EXPECTED: Readonly<Record<string, string>> = {
  InvalidSymbol: 'a value: a text in double quotes, a number, true, false, null, an object or a list',
  InvalidNumberFormat: 'a number',
  PropertyNameExpected: 'a key in double quotes',
  ValueExpected: 'a value',
  ColonExpected: 'a colon after the key',
  CommaExpected: 'a comma',
  CloseBraceExpected: 'a "}"',
  CloseBracketExpected: 'a "]"',
  EndOfFileExpected: 'nothing more after the object',
  UnexpectedEndOfComment: 'the end of a comment',
  UnexpectedEndOfString: 'the end of a text',
  UnexpectedEndOfNumber: 'the end of a number',
  InvalidUnicode: 'four hexadecimal digits after \\u',
  InvalidEscapeCharacter: 'a valid escape after the backslash',
  InvalidCharacter: 'no control character in a text',
};

/** Only the first is told: the others come from it. */
function syntaxMistake(text: string, error: ParseError | undefined): ProfileMistake {
  const offset = error?.offset ?? 0;
  const expected = EXPECTED[error === undefined ? 'ValueExpected' : printParseErrorCode(error.error)] ?? 'JSON';
  const next = text.slice(offset).trimStart().charAt(0);
  const found = next === '' ? 'the end of the file' : JSON.stringify(next);
  return at(text, offset, `syntax error: expected JSON with ${expected}, found ${found}`);
}

function at(text: string, offset: number, message: string): ProfileMistake {
  return { ...whole(message), ...positionAt(text, offset) };
}

function whole(message: string): ProfileMistake {
  return { path: [], line: null, column: null, message, suggestion: null };
}
