import { findNodeAtLocation, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';

/** The most bytes, and the most nested objects and lists, of a profile's file. */
export const PROFILE_FILE_LIMITS = { bytes: 256 * 1024, depth: 64 } as const;

/** Keys and list indexes from the top level of a profile. */
export type ProfilePath = readonly (string | number)[];

/** One mistake in the file of a service profile. */
export interface ProfileMistake {
  /** The path of the mistake. It ends with the name of an unknown key, and is empty for the file as a whole. */
  readonly path: ProfilePath;
  /** The rule that is broken, as a phrase without secrets. */
  readonly message: string;
  /** The nearest valid word; null if none is near. */
  readonly suggestion: string | null;
  /** Counted from 1; null if the file does not contain the path. */
  readonly line: number | null;
  readonly column: number | null;
}

/** The JSON of a profile's file. */
export interface ProfileFile {
  readonly text: string;
  readonly tree: Node;
  /** The content without `$schema`. */
  readonly document: Readonly<Record<string, unknown>>;
  /** Keys that occur twice in one object. */
  readonly mistakes: readonly ProfileMistake[];
}

/** Reads a profile's file as JSON with comments and trailing commas. Returns a mistake if it is not JSON. */
export function readProfileFile(source: string): ProfileFile | ProfileMistake {
  if (Buffer.byteLength(source) > PROFILE_FILE_LIMITS.bytes)
    return mistakeAt(`must be at most ${PROFILE_FILE_LIMITS.bytes / 1024} kB long`);
  // Some editors begin a file with a byte order mark.
  const text = source.replace(/^\u{feff}/u, ' ');
  try {
    return readJson(text);
  } catch (error) {
    // The parser and `valueOf` call themselves for each level.
    if (!(error instanceof RangeError)) throw error;
    return mistakeAt(`must hold at most ${PROFILE_FILE_LIMITS.depth} objects and lists inside each other`);
  }
}

function readJson(text: string): ProfileFile | ProfileMistake {
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error !== undefined || tree === undefined) return syntaxMistake(text, error);
  if (tree.type !== 'object')
    return mistakeAt(`expected a JSON object at the top level, found ${tree.type}`, text, tree.offset);
  const mistakes: ProfileMistake[] = [];
  const { $schema: _forEditors, ...document } = valueOf(tree, [], (path, { offset }) => {
    mistakes.push({ ...mistakeAt('stands twice in this object; one of them must go', text, offset), path });
  }) as Record<string, unknown>;
  return { text, tree, document, mistakes };
}

/** Object.fromEntries defines own properties, so `__proto__` in the file is a key like any other. */
function valueOf(node: Node, path: ProfilePath, repeated: (path: ProfilePath, key: Node) => void): unknown {
  const { children = [], type } = node;
  if (type !== 'array' && type !== 'object') return node.value as unknown;
  if (path.length >= PROFILE_FILE_LIMITS.depth) throw new RangeError('too deep');
  if (type === 'array') return children.map((child, index) => valueOf(child, [...path, index], repeated));
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

/** Reports only the first error, because the later errors follow from it. */
function syntaxMistake(text: string, error: ParseError | undefined): ProfileMistake {
  const { offset, code } =
    error === undefined
      ? { offset: 0, code: 'ValueExpected' }
      : { offset: error.offset, code: printParseErrorCode(error.error) };
  const problem = code.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
  const next = text.slice(offset).trimStart().charAt(0);
  const found = next === '' ? 'the end of the file' : JSON.stringify(next);
  return mistakeAt(`syntax error: ${problem}, found ${found}`, text, offset);
}

function mistakeAt(message: string, text?: string, offset = 0): ProfileMistake {
  const position = text === undefined ? { line: null, column: null } : positionAt(text, offset);
  return { path: [], message, suggestion: null, ...position };
}

/** Returns the line and column of an offset, counted from 1. */
function positionAt(text: string, offset: number): { readonly line: number; readonly column: number } {
  const lines = text.slice(0, offset).split('\n');
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}

/** A mistake without its place in the file; `isKey` is true if the key itself is wrong. */
export interface UnplacedMistake extends Pick<ProfileMistake, 'path' | 'message' | 'suggestion'> {
  readonly isKey?: boolean;
}

/** Adds the line and column of the value, of the key, or of the nearest parent that the file has. */
export function placed(mistake: UnplacedMistake, { text, tree }: ProfileFile): ProfileMistake {
  const { isKey = false, ...found } = mistake;
  const value = nodeAt(tree, found.path);
  const node = isKey ? (value?.parent?.children?.[0] ?? value) : value;
  return { ...found, ...(node === null ? { line: null, column: null } : positionAt(text, node.offset)) };
}

function nodeAt(tree: Node, path: ProfilePath): Node | null {
  for (let length = path.length; length > 0; length -= 1) {
    const node = findNodeAtLocation(tree, [...path.slice(0, length)]);
    if (node !== undefined) return node;
  }
  return path.length === 0 ? tree : null;
}

/** Formats a path for people, for example `answers.rules.0.means`. */
export function pathText(path: ProfilePath): string {
  return path.length === 0 ? 'top level' : path.join('.');
}

/** Formats one mistake as one line. */
export function mistakeText({ path, line, column, message, suggestion }: ProfileMistake): string {
  const where = line === null ? '' : ` (line ${line}, column ${column})`;
  const nearest = suggestion === null ? '' : `; did you mean ${JSON.stringify(suggestion)}?`;
  return `${pathText(path)}${where}: ${message}${nearest}`;
}
