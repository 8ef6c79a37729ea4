import {
  createScanner,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
  findNodeAtLocation,
} from 'jsonc-parser';

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

/** A place in a text, counted from 1. */
export interface FilePosition {
  readonly line: number;
  readonly column: number;
}

/** The line and column of an offset. */
function positionAt(text: string, offset: number): FilePosition {
  const before = text.slice(0, offset);
  const lineStart = before.lastIndexOf('\n') + 1;
  return { line: before.split('\n').length, column: before.length - lineStart + 1 };
}

/** The mistake with its place in the file: the value's, or the key's, or that of what stands nearest above it. */
export function placed({ isKey, ...mistake }: UnplacedMistake, text: string, tree: Node): ProfileMistake {
  const value = nodeAt(tree, mistake.path);
  const node = isKey === true ? (value?.parent?.children?.[0] ?? value) : value;
  const position = node === null ? { line: null, column: null } : positionAt(text, node.offset);
  return { ...mistake, ...position };
}

function nodeAt(tree: Node, path: ProfilePath): Node | null {
  for (let length = path.length; length > 0; length -= 1) {
    const node = findNodeAtLocation(tree, [...path.slice(0, length)]);
    if (node !== undefined) return node;
  }
  return path.length === 0 ? tree : null;
}

/** Keys and list positions from the top of a profile. */
export type ProfilePath = readonly (string | number)[];

/** One thing that is wrong in the file of a service profile. */
export interface ProfileMistake {
  /** Of an unknown key, its own name stands last; empty: the file as a whole. */
  readonly path: ProfilePath;
  /** What must hold and what was found, as a phrase without secrets. */
  readonly message: string;
  /** The nearest word that is valid there; null: none is near. */
  readonly suggestion: string | null;
  /** Counted from 1; null: the file leaves it out. */
  readonly line: number | null;
  readonly column: number | null;
}

/** A mistake whose place in the file is not known yet. */
export interface UnplacedMistake extends Omit<ProfileMistake, 'line' | 'column'> {
  /** The key is wrong, and not what stands there. */
  readonly isKey?: true;
}

/** A path as people write it: `answers.rules.0.means`. */
export function pathText(path: ProfilePath): string {
  return path.length === 0 ? 'top level' : path.map(String).join('.');
}

/** One mistake as one line. */
export function mistakeText({ path, line, column, message, suggestion }: ProfileMistake): string {
  const where = line === null ? '' : ` (line ${line}, column ${column})`;
  const nearest = suggestion === null ? '' : `; did you mean ${JSON.stringify(suggestion)}?`;
  return `${pathText(path)}${where}: ${message}${nearest}`;
}

const LONGEST_SHOWN = 40;
/** What stands there may be a secret, or was mistaken for the place of one. */
const SECRET_PLACE = /^(?:requests\.headers|requests\.\w+\.body|webhook\.secret|signature\.secret)(?:\.|$)/;
const SECRET_TEXT = /^(?:sk_|pk_|whsec_|bearer |basic )/i;

/** A value of the file in a message: short, and never a secret. */
export function shownValue(value: unknown, path: ProfilePath): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  if (typeof value !== 'string') return JSON.stringify(value);
  if (isSecret(value, path)) return 'a text that is not shown here';
  return JSON.stringify(value.length > LONGEST_SHOWN ? `${value.slice(0, LONGEST_SHOWN)}…` : value);
}

/** Whether a text must not stand in a message or on a screen. */
export function isSecret(text: string, path: ProfilePath): boolean {
  return SECRET_PLACE.test(pathText(path)) || SECRET_TEXT.test(text);
}
