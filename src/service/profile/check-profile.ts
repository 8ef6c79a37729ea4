import { isPlainObject } from '../../domain/json-pointer.ts';
import {
  placed,
  type ProfileMistake,
  type UnplacedMistake,
  type ProfilePath,
  isMistake,
  readProfileFile,
  shownValue,
} from './check/read-profile-file.ts';
import { contradictionsIn } from './contradictions.ts';
import { DEFAULT_PROFILE } from './default-profile.ts';
import { ServiceProfile } from './profile.ts';
import type { z } from 'zod';
import { keyPaths, keysAt, profileJsonSchema } from './json-schema.ts';
import { distance } from 'fastest-levenshtein';

/** A file with more mistakes is no profile; finding the places of all of them would take long. */
const MOST_MISTAKES = 1_000;

/** What a profile's file says, or everything that is wrong with it. */
export interface CheckedProfile {
  /** The profile in force; null: there are mistakes. */
  readonly profile: ServiceProfile | null;
  /** In the order of the file; at most 1,000. */
  readonly mistakes: readonly ProfileMistake[];
}

/** Reads the text of a profile's file, merges it over the default (lists replace lists) and finds every mistake. */
export function checkProfile(text: string): CheckedProfile {
  if (text.trim() === '') return { profile: DEFAULT_PROFILE, mistakes: [] };
  const file = readProfileFile(text);
  if (isMistake(file)) return { profile: null, mistakes: [file] };
  const document = merged(DEFAULT_PROFILE, file.document);
  const parsed = ServiceProfile.safeParse(document);
  const inSchema = parsed.success ? [] : schemaMistakes(parsed.error.issues, document);
  const wrong: readonly UnplacedMistake[] = [...inSchema, ...contradictionMistakes(document, inSchema)];
  const mistakes = [
    ...file.mistakes,
    ...wrong.slice(0, MOST_MISTAKES).map((one) => placed(one, file.text, file.tree)),
  ].toSorted(inFileOrder);
  return { profile: parsed.success && mistakes.length === 0 ? parsed.data : null, mistakes };
}

/** Sections with mistakes of their own are left out: what they contradict is not known. */
function contradictionMistakes(
  document: Readonly<Record<string, unknown>>,
  inSchema: readonly UnplacedMistake[],
): readonly UnplacedMistake[] {
  const broken = new Set(inSchema.map(({ path: [section] }) => String(section)));
  const sound = Object.entries(document).filter(
    ([section]) => Object.hasOwn(DEFAULT_PROFILE, section) && !broken.has(section),
  );
  const parsed = ServiceProfile.safeParse({ ...DEFAULT_PROFILE, ...Object.fromEntries(sound) });
  if (!parsed.success) return [];
  return contradictionsIn(parsed.data, broken).map(({ path, message }) => ({ path, message, suggestion: null }));
}

function inFileOrder(one: ProfileMistake, other: ProfileMistake): number {
  return (one.line ?? 0) - (other.line ?? 0) || (one.column ?? 0) - (other.column ?? 0);
}

/** Object.fromEntries defines own properties, so that a `__proto__` in the file is an unknown key and nothing more. */
function merged(
  base: Readonly<Record<string, unknown>>,
  over: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const entries = new Map<string, unknown>(Object.entries(base));
  for (const [key, value] of Object.entries(over)) {
    const below = entries.get(key);
    entries.set(key, isPlainObject(below) && isPlainObject(value) ? merged(below, value) : value);
  }
  return Object.fromEntries(entries);
}

type Issue = z.core.$ZodIssue;

const PLACE =
  'must be a place (a JSON Pointer such as "/data/id", "header:NAME", "text" or "jsonata:EXPRESSION") or a list of places';

/** Of one section: no person reads more, and each costs time. */
const MOST_UNKNOWN_KEYS = 1_000;

const NAMES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

/** What the schema says against a document, each as one mistake. */
function schemaMistakes(issues: readonly Issue[], document: unknown): readonly UnplacedMistake[] {
  return issues.flatMap((issue) => mistakesOf(issue, document, []));
}

function mistakesOf(issue: Issue, document: unknown, above: ProfilePath): readonly UnplacedMistake[] {
  const path = [...above, ...issue.path.map((step) => (typeof step === 'number' ? step : String(step)))];
  if (issue.code === 'unrecognized_keys') return unknownKeys(issue.keys, path);
  if (issue.code === 'invalid_key')
    return issue.issues.flatMap((one) => mistakesOf({ ...one, path: [] }, document, path));
  if (issue.code === 'invalid_union') {
    const meant = issue.errors.find(
      (branch) => !branch.some((one) => one.code === 'invalid_type' && one.path.length === 0),
    );
    if (meant !== undefined) return meant.flatMap((one) => mistakesOf(one, document, path));
  }
  const value = valueAt(document, path);
  return [{ path, message: withFound(mustHold(issue), value, path), suggestion: nearestValue(issue, value) }];
}

function unknownKeys(keys: readonly string[], section: ProfilePath): readonly UnplacedMistake[] {
  const schema = profileJsonSchema();
  const allowed = keysAt(schema, section).filter((one) => one !== '$schema');
  const paths = [...keyPaths(schema).keys()].map((path) => [path, path.split('.').at(-1)] as const);
  const message = `no such key; allowed here: ${allowed.join(', ')}`;
  return keys.slice(0, MOST_UNKNOWN_KEYS).map((key) => {
    const [elsewhere, another] = paths.filter(([, last]) => last === key);
    const only = another === undefined ? (elsewhere?.[0] ?? null) : null;
    return { path: [...section, key], isKey: true, message, suggestion: nearestWord(key, allowed) ?? only };
  });
}

function mustHold(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${NAMES[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be one of ${issue.values.map((one) => JSON.stringify(one)).join(', ')}`;
    case 'too_small':
      return bounded('at least', issue.origin, issue.minimum, issue.inclusive === false);
    case 'too_big':
      return bounded('at most', issue.origin, issue.maximum, issue.inclusive === false);
    case 'invalid_union':
      return PLACE;
    default:
      return issue.message.startsWith('must ') ? issue.message : `must be valid (${issue.message})`;
  }
}

function bounded(bound: 'at least' | 'at most', origin: string, limit: number | bigint, exclusive: boolean): string {
  if (origin === 'string') return limit === 1 ? 'must not be empty' : `must have ${bound} ${limit} characters`;
  if (origin === 'array') return `must have ${bound} ${limit} ${limit === 1 ? 'entry' : 'entries'}`;
  if (exclusive) return `must be ${bound === 'at least' ? 'more' : 'less'} than ${limit}`;
  return `must be ${bound} ${limit}`;
}

/** A message of a rule's own may say already what it found; of an object or a list the kind says nothing. */
function withFound(message: string, value: unknown, path: ProfilePath): string {
  if (message.includes(', found ')) return message;
  const isWhole = typeof value === 'object' && value !== null && !/must (?:be (?:a|one|true)|have)/.test(message);
  return isWhole ? message : `${message}, found ${shownValue(value, path)}`;
}

function nearestValue(issue: Issue, value: unknown): string | null {
  if (issue.code !== 'invalid_value' || typeof value !== 'string') return null;
  return nearestWord(
    value,
    issue.values.filter((one) => typeof one === 'string'),
  );
}

function valueAt(document: unknown, path: ProfilePath): unknown {
  let here = document;
  for (const step of path) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, step)) return undefined;
    here = (here as Record<string | number, unknown>)[step];
  }
  return here;
}

/** Longer words are no slip of the pen, and comparing them costs time. */
const LONGEST_WORD = 100;

/** The valid word that was most probably meant; null: none is near. Case, "_" and "-" do not count. */
function nearestWord(word: string, valid: readonly string[]): string | null {
  if (word.length > LONGEST_WORD) return null;
  const typed = bare(word);
  let nearest: string | null = null;
  let least = Math.max(1, Math.floor(typed.length / 3)) + 1;
  for (const one of valid) {
    const steps = distance(typed, bare(one));
    if (steps < least) [nearest, least] = [one, steps];
  }
  return nearest;
}

function bare(word: string): string {
  return word.toLowerCase().replaceAll(/[_-]/g, '');
}
