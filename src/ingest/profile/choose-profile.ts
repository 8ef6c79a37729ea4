import { readFile, readdir, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { LoteError } from '../../domain/errors.ts';
import { parseProfile, requireProfileName } from './mapping-profile.ts';
import type { Profile } from './mapping-profile.ts';

export interface ChooseProfile {
  /** `profiles` of the input directory; need not exist. */
  readonly directory: string;
  /** Base name of the file. */
  readonly file: string;
  /** By an operator. */
  readonly named?: string;
  /** By which profile a corrections file says that it was read. */
  readonly written?: string;
}

/** The mapping profile in force and what chose it: an operator, the corrections file itself, or the file's name. */
export interface ChosenProfile {
  readonly profile: Profile;
  readonly how: 'declared' | 'corrections' | 'file-name';
}

/** A profile is written by hand; more than this is some other file. */
const LONGEST_PROFILE = 256 * 1024;

/**
 * The profile an operator named, else the one in a corrections file, else the one whose name the file's name starts with (`erp` for
 * `erp-2026-11.csv`; of several the longest); null when there is none.
 * @throws LoteError `usage` for a profile that is not there or is wrong
 */
export async function chooseProfile(request: ChooseProfile): Promise<ChosenProfile | null> {
  const { directory, named, written } = request;
  if (named !== undefined) return { profile: await loadProfile(directory, requireProfileName(named)), how: 'declared' };
  if (written !== undefined) return { profile: await loadProfile(directory, written), how: 'corrections' };
  const prefix = prefixOf(request.file, await profileNames(directory));
  return prefix === null ? null : { profile: await loadProfile(directory, prefix), how: 'file-name' };
}

async function loadProfile(directory: string, name: string): Promise<Profile> {
  const bytes = await readInside(directory, `${name}.json`).catch(() => null);
  if (bytes === null) {
    const names = await profileNames(directory);
    const known = names.length === 0 ? 'there are none' : `there are ${names.join(', ')}`;
    throw new LoteError(
      'usage',
      `Choosing the mapping profile ${name}: expected a readable profiles/${name}.json of at most ${LONGEST_PROFILE} bytes in the input directory, found none; ${known}.`,
    );
  }
  return parseProfile(name, bytes);
}

/** Null for a file that is too long, or that a link leads to from elsewhere: an error about its text would show what is in it. */
async function readInside(directory: string, file: string): Promise<Uint8Array | null> {
  const path = await realpath(join(directory, file));
  if (!path.startsWith((await realpath(directory)) + sep)) return null;
  const { size } = await stat(path);
  return size > LONGEST_PROFILE ? null : readFile(path);
}

async function profileNames(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory).catch(() => []);
  return entries
    .filter((entry) => entry.endsWith('.json'))
    .map((entry) => entry.slice(0, -'.json'.length))
    .sort();
}

/** Which of the names a file's name chooses: the longest that it begins with, then `-`, `_`, `.` or a space; null: none. */
export function prefixOf(file: string, names: readonly string[]): string | null {
  const stem = file.toLowerCase();
  const matching = names.filter((name) => stem.startsWith(name) && /^[-_. ]/.test(stem.slice(name.length)));
  return matching.reduce<string | null>(
    (longest, name) => (name.length > (longest?.length ?? 0) ? name : longest),
    null,
  );
}
