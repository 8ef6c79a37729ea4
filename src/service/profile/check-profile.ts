import { distance } from 'fastest-levenshtein';
import type { z } from 'zod';
import { LoteError } from '../../domain/errors.ts';
import { isPlainObject } from '../../domain/json-pointer.ts';
import { DEFAULT_PROFILE } from './default-profile.ts';
import { keyPaths, profileJsonSchema } from './json-schema.ts';
import { ServiceProfile } from './profile.ts';
import {
  mistakeText,
  placed,
  type ProfileMistake,
  type ProfilePath,
  readProfileFile,
  type UnplacedMistake,
} from './profile-file.ts';

/** A file with more mistakes is no profile, and finding the place of each mistake would take long. */
const MOST_MISTAKES = 1_000;
/** `loadProfile` reports no more; `lote profile check` shows all. */
const MISTAKES_SHOWN = 20;

/**
 * Reads the profile in force: JSON text, with comments and trailing commas allowed, merged deeply over the default.
 * @throws LoteError `configuration-invalid`, naming each mistake with its place.
 */
export function loadProfile(text: string | undefined): ServiceProfile {
  const { profile, mistakes } = checkProfile(text ?? '');
  if (profile === null) throw new LoteError('configuration-invalid', messageOf(mistakes));
  return profile;
}

function messageOf(mistakes: readonly ProfileMistake[]): string {
  const next = 'Correct the file named by SERVICE_PROFILE; what it leaves out keeps its default.';
  const [first, second] = mistakes;
  if (first !== undefined && second === undefined) return `Reading the service profile: ${mistakeText(first)}. ${next}`;
  const more = mistakes.length - MISTAKES_SHOWN;
  return [
    `Reading the service profile: ${mistakes.length} mistakes.`,
    ...mistakes.slice(0, MISTAKES_SHOWN).map((mistake) => `  ${mistakeText(mistake)}`),
    ...(more > 0 ? [`  … and ${more} more: \`lote profile check\` shows them all.`] : []),
    next,
  ].join('\n');
}

/** The content of a profile's file, or all mistakes in it. */
export interface CheckedProfile {
  /** The profile in force; null when there are mistakes. */
  readonly profile: ServiceProfile | null;
  /** In the order of the file; at most 1,000. */
  readonly mistakes: readonly ProfileMistake[];
}

/** Reads the text of a profile's file, merges it over the default (lists replace lists) and finds every mistake. */
export function checkProfile(text: string): CheckedProfile {
  if (text.trim() === '') return { profile: DEFAULT_PROFILE, mistakes: [] };
  const file = readProfileFile(text);
  if ('message' in file) return { profile: null, mistakes: [file] };
  const parsed = ServiceProfile.safeParse(merged(DEFAULT_PROFILE, file.document), { reportInput: true });
  const wrong = parsed.success ? [] : parsed.error.issues.flatMap((issue) => mistakesOf(issue, []));
  const mistakes = [...file.mistakes, ...wrong.slice(0, MOST_MISTAKES).map((one) => placed(one, file))];
  if (parsed.success && mistakes.length === 0) return { profile: parsed.data, mistakes };
  return { profile: null, mistakes: mistakes.toSorted(inFileOrder) };
}

function inFileOrder(one: ProfileMistake, other: ProfileMistake): number {
  return (one.line ?? 0) - (other.line ?? 0) || (one.column ?? 0) - (other.column ?? 0);
}

/** Object.fromEntries defines own properties, so `__proto__` in the file is only an unknown key. */
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

/** Uses zod's messages: they name the type of a value and never the value, which may be a secret. */
function mistakesOf(issue: Issue, above: ProfilePath): readonly UnplacedMistake[] {
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
  return [{ path, message, suggestion: nearestValue(issue) }];
}

function unknownKeys(keys: readonly string[], path: ProfilePath): readonly UnplacedMistake[] {
  const section = path.map((step) => (typeof step === 'number' ? '[]' : `.${step}`)).join('');
  const known = [...keyPaths(profileJsonSchema()).keys()].map((one) => {
    const at = one.lastIndexOf('.');
    return { path: one, section: at < 0 ? '' : `.${one.slice(0, at)}`, key: one.slice(at + 1) };
  });
  const allowed = known.filter((one) => one.section === section && one.key !== '$schema').map(({ key }) => key);
  const message = `no such key; allowed here: ${allowed.join(', ')}`;
  return keys.slice(0, MOST_MISTAKES).map((key) => {
    const [elsewhere, another] = known.filter((one) => one.key === key);
    const only = another === undefined ? (elsewhere?.path ?? null) : null;
    return { path: [...path, key], isKey: true, message, suggestion: nearestWord(key, allowed) ?? only };
  });
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
