import { closest, distance } from 'fastest-levenshtein';
import { parse, printParseErrorCode, visit } from 'jsonc-parser';
import type { z } from 'zod';
import { LoteError } from '../../domain/errors.ts';
import { isPlainObject } from '../../domain/json-pointer.ts';
import { keyPaths, profileJsonSchema } from './json-schema.ts';
import { DEFAULT_PROFILE, ServiceProfile } from './profile.ts';

/** The longest file of a profile, in bytes. */
const MOST_PROFILE_BYTES = 256 * 1024;
/** The most objects and lists inside each other. */
const DEEPEST = 64;
/** `loadProfile` reports no more; `lote profile check` shows all. */
const MISTAKES_SHOWN = 20;

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
}

/** Formats one mistake as one line. */
export function mistakeText({ path, message, suggestion }: ProfileMistake): string {
  const nearest = suggestion === null ? '' : `; did you mean ${JSON.stringify(suggestion)}?`;
  return `${pathText(path)}: ${message}${nearest}`;
}

/** Formats a path for people, for example `answers.rules.0.means`. */
export function pathText(path: ProfilePath): string {
  return path.length === 0 ? 'top level' : path.join('.');
}

/**
 * Reads the profile in force: JSON text, with comments and trailing commas allowed, merged deeply over the default.
 * @throws LoteError `configuration-invalid`, naming each mistake with its path.
 */
export function loadProfile(text: string | undefined): ServiceProfile {
  const { profile, mistakes } = checkProfile(text ?? '');
  if (profile !== null) return profile;
  const more = mistakes.length - MISTAKES_SHOWN;
  throw new LoteError(
    'configuration-invalid',
    [
      `Reading the service profile: ${mistakes.length === 1 ? '1 mistake' : `${mistakes.length} mistakes`}.`,
      ...mistakes.slice(0, MISTAKES_SHOWN).map((mistake) => `  ${mistakeText(mistake)}`),
      ...(more > 0 ? [`  … and ${more} more: \`lote profile check\` shows them all.`] : []),
      'Correct the file named by SERVICE_PROFILE; what it leaves out keeps its default.',
    ].join('\n'),
  );
}

/**
 * Reads the text of a profile's file, merges it over the default (lists replace lists) and finds every mistake. The
 * profile is null when there are mistakes.
 */
export function checkProfile(source: string): {
  readonly profile: ServiceProfile | null;
  readonly mistakes: readonly ProfileMistake[];
} {
  // Some editors begin a file with a byte order mark.
  const text = source.replace(/^\u{feff}/u, '');
  if (text.trim() === '') return { profile: DEFAULT_PROFILE, mistakes: [] };
  const wrong = mistakesOfForm(text);
  if (wrong.length > 0) return { profile: null, mistakes: wrong };
  const { $schema: _forEditors, ...document } = parse(text, [], { allowTrailingComma: true }) as Record<
    string,
    unknown
  >;
  const parsed = ServiceProfile.safeParse(document, { reportInput: true });
  if (parsed.success) return { profile: parsed.data, mistakes: [] };
  return { profile: null, mistakes: parsed.error.issues.flatMap((issue) => mistakesOf(issue, [])) };
}

/** Finds why a text is no JSON object with comments and trailing commas: the first syntax error, or every repeated key. */
function mistakesOfForm(text: string): readonly ProfileMistake[] {
  if (Buffer.byteLength(text) > MOST_PROFILE_BYTES)
    return [mistake([], `must be at most ${MOST_PROFILE_BYTES / 1024} kB long`)];
  const errors: ProfileMistake[] = [];
  const keys: ProfileMistake[] = [];
  const seen = new Set<string>();
  try {
    visit(
      text,
      {
        onObjectProperty(name, ...[, , , , above]) {
          const path = [...above(), name];
          if (path.length > DEEPEST) throw new RangeError('too deep');
          // The parser would change the prototype of its object.
          if (name === '__proto__') keys.push(mistake(path, 'no such key'));
          else if (seen.has(JSON.stringify(path))) keys.push(mistake(path, 'stands twice in this object'));
          seen.add(JSON.stringify(path));
        },
        onArrayBegin(...[, , , , above]) {
          if (above().length >= DEEPEST) throw new RangeError('too deep');
        },
        onError(code, offset, ...[, line, column]) {
          const problem = printParseErrorCode(code)
            .replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ')
            .toLowerCase();
          const next = text.slice(offset).trimStart().charAt(0);
          const found = next === '' ? 'the end of the file' : JSON.stringify(next);
          errors.push(
            mistake([], `syntax error in line ${line + 1}, column ${column + 1}: ${problem}, found ${found}`),
          );
        },
      },
      { allowTrailingComma: true },
    );
  } catch (error) {
    // The parser calls itself for each level.
    if (!(error instanceof RangeError)) throw error;
    return [mistake([], `must hold at most ${DEEPEST} objects and lists inside each other`)];
  }
  if (errors.length > 0) return errors.slice(0, 1);
  if (!isPlainObject(parse(text, [], { allowTrailingComma: true })))
    return [mistake([], 'expected a JSON object at the top level')];
  return keys;
}

function mistake(path: ProfilePath, message: string, suggestion: string | null = null): ProfileMistake {
  return { path, message, suggestion };
}

type Issue = z.core.$ZodIssue;

/** Uses zod's messages: they name the type of a value and never the value, which may be a secret. */
function mistakesOf(issue: Issue, above: ProfilePath): readonly ProfileMistake[] {
  const path = [...above, ...issue.path.map((step) => (typeof step === 'number' ? step : String(step)))];
  if (issue.code === 'unrecognized_keys') return unknownKeys(issue.keys, path);
  if (issue.code === 'invalid_key') return issue.issues.flatMap((one) => mistakesOf({ ...one, path: [] }, path));
  if (issue.code === 'invalid_union') {
    const meant = issue.errors.find(
      (branch) => !branch.some((one) => one.code === 'invalid_type' && one.path.length === 0),
    );
    if (meant !== undefined) return meant.flatMap((one) => mistakesOf(one, path));
  }
  const message = issue.message.replace(/^(?:Invalid (?:input|option)|Too (?:big|small)): /, '');
  return [mistake(path, message, nearestValue(issue))];
}

function unknownKeys(keys: readonly string[], path: ProfilePath): readonly ProfileMistake[] {
  const section = path
    .map((step) => (typeof step === 'number' ? '[]' : step))
    .join('.')
    .replaceAll('.[]', '[]');
  const before = section === '' ? '' : `${section}.`;
  const allowed = [...keyPaths(profileJsonSchema()).keys()]
    .filter((key) => key.startsWith(before))
    .map((key) => key.slice(before.length))
    .filter((key) => key !== '$schema' && !key.includes('.'));
  const message = `no such key; allowed here: ${allowed.join(', ')}`;
  return keys.map((key) => mistake([...path, key], message, nearestWord(key, allowed)));
}

function nearestValue(issue: Issue): string | null {
  if (issue.code !== 'invalid_value' || typeof issue.input !== 'string') return null;
  const words = issue.values.filter((one) => typeof one === 'string');
  return nearestWord(issue.input, words);
}

/** A longer word is no typing mistake, and comparing it costs time. */
const LONGEST_WORD = 100;

/** Returns the nearest valid word, or null if none is near. Ignores case, "_" and "-". */
function nearestWord(word: string, valid: readonly string[]): string | null {
  if (word.length > LONGEST_WORD || valid.length === 0) return null;
  const typed = bare(word);
  const nearest = closest(typed, valid.map(bare));
  const isNear = distance(typed, nearest) <= Math.max(1, Math.floor(typed.length / 3));
  return isNear ? (valid.find((one) => bare(one) === nearest) ?? null) : null;
}

function bare(word: string): string {
  return word.toLowerCase().replaceAll(/[_-]/g, '');
}
