import { isPlainObject } from '../domain/plain-object.ts';
import { placed } from './check/file-position.ts';
import type { ProfileMistake, UnplacedMistake } from './check/profile-mistake.ts';
import { isMistake, readProfileFile } from './check/read-profile-file.ts';
import { schemaMistakes } from './check/schema-mistakes.ts';
import { contradictionsIn } from './contradictions.ts';
import { DEFAULT_PROFILE } from './default-profile.ts';
import { ServiceProfile } from './profile.ts';

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

/** Sections with mistakes of their own are left out: what they contradict, nobody knows. */
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
