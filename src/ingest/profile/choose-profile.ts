import { readFile, readdir, realpath, stat } from 'node:fs/promises';
import { basename, join, sep } from 'node:path';
import { LoteError } from '../../domain/errors.ts';
import { READ_AS, parseReadAs, type ReadAs } from '../../domain/read-as.ts';
import { scanFile, type FileScan } from '../encoding/scan-file.ts';
import { HEADER_WITHIN, headerName, namedHeaders } from './map-header.ts';
import { parseProfile, requireProfileName, type Profile } from './mapping-profile.ts';
import { readTableHead } from './table-head.ts';

interface ChooseProfile {
  /** The folder `profiles` of the input directory; it need not exist. */
  readonly directory: string;
  readonly file: string;
  /** Path of the file's bytes. Optional: without it, Lote ignores the header. */
  readonly path?: string | null;
  readonly named?: string | undefined;
  /** The profile that a corrections file says it was read with. */
  readonly written?: string | undefined;
}

/** The mapping profile in force, and what chose it. */
export interface ChosenProfile {
  readonly profile: Profile;
  readonly how: 'declared' | 'corrections' | 'header' | 'file-name';
}

/** A person writes a profile by hand; a longer file is not a profile. */
const LONGEST_PROFILE = 256 * 1024;

/**
 * Chooses the profile that an operator named, or else that of the corrections file, or else the one with exactly these
 * columns, or else the longest prefix of the file's name.
 * @throws LoteError `usage`, `file-unreadable`
 */
export async function chooseProfile(request: ChooseProfile): Promise<ChosenProfile | null> {
  const { directory, named, written, path = null } = request;
  if (named !== undefined) return { profile: await loadProfile(directory, requireProfileName(named)), how: 'declared' };
  if (written !== undefined) return { profile: await loadProfile(directory, written), how: 'corrections' };
  const names = await profileNames(directory);
  const prefix = prefixOf(request.file, names);
  const byHeader = path === null ? null : await profileOfHeader(directory, path, { names, prefix });
  if (byHeader !== null) return { profile: byHeader, how: 'header' };
  return prefix === null ? null : { profile: await loadProfile(directory, prefix), how: 'file-name' };
}

/** Skips profiles that are invalid or do not name exactly the columns of the file. */
async function profileOfHeader(
  directory: string,
  path: string,
  { names, prefix }: { readonly names: readonly string[]; readonly prefix: string | null },
): Promise<Profile | null> {
  const loaded = await Promise.all(names.map((name) => loadProfile(directory, name).catch(() => null)));
  const naming = loaded.filter((one) => one !== null).filter(({ options }) => namedHeaders(options).size > 0);
  const found: Profile[] = [];
  if (naming.length === 0) return null;
  const scan = await scanFile(path);
  for (const profile of naming) {
    // oxlint-disable-next-line no-await-in-loop -- there are few profiles, and each reads the same head
    if (await hasLayout(path, scan, profile)) found.push(profile);
  }
  const [one, other] = found;
  if (one === undefined || other === undefined) return one ?? null;
  const named = found.find(({ name }) => name === prefix);
  if (named !== undefined) return named;
  const message = `Choosing a mapping profile: expected one with the columns of this file, found ${found.map(({ name }) => name).join(' and ')}. Remove one from profiles/ of the input directory, or name one with --profile.`;
  throw new LoteError('usage', message);
}

async function loadProfile(directory: string, name: string): Promise<Profile> {
  const bytes = await readInside(directory, `${name}.json`).catch(() => null);
  if (bytes === null) {
    const names = await profileNames(directory);
    const known = names.length === 0 ? 'there are none' : `there are ${names.join(', ')}`;
    const message = `Choosing the mapping profile ${name}: expected a readable profiles/${name}.json of at most ${LONGEST_PROFILE} bytes in the input directory, found none; ${known}.`;
    throw new LoteError('usage', message);
  }
  return parseProfile(name, bytes);
}

/** Null for a file that is too long or a link out of the directory: an error would reveal its content. */
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

/** Returns the longest name that, followed by `-`, `_`, `.` or a space, begins the file's name; null without one. */
function prefixOf(file: string, names: readonly string[]): string | null {
  const stem = file.toLowerCase();
  const matching = names.filter((name) => stem.startsWith(name) && /^[-_. ]/.test(stem.slice(name.length)));
  return matching.toSorted((a, b) => b.length - a.length)[0] ?? null;
}

/** Returns a free name for a profile: `extrato` for `Extrato-2026-11.csv`, or `extrato-2` if that is taken. */
export async function suggestedName(directory: string, path: string): Promise<string> {
  const stem = basename(path)
    .replace(/\.[^.]*$/u, '')
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '');
  const words = stem
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/gu, '-')
    .replace(/^-/u, '')
    .slice(0, 40);
  const name = words.replace(/-?\d.*$/u, '').replace(/-$/u, '') || words.replace(/-$/u, '') || 'erp';
  const taken = await profileNames(directory);
  let free = name;
  for (let at = 2; taken.includes(free); at += 1) free = `${name}-${at}`;
  return free;
}

/** Returns true if a profile names exactly the columns of a file; objects of JSON may lack members. */
async function hasLayout(path: string, scan: FileScan, { format, options }: Profile): Promise<boolean> {
  const head = await readTableHead(path, options, { mostRows: 0, scan });
  if (head === null || (format ?? head.format) !== head.format) return false;
  const { unknown, gone, missing } = head.map;
  const named = namedHeaders(options);
  if (head.format === 'json') return unknown.length > 0 && unknown.every((member) => named.has(headerName(member)));
  return unknown.length === 0 && gone.length === 0 && missing.length === 0;
}

const TOKEN = String.raw`(?:decimal|references|profile|encoding|delimiter|duplicates|form)=[\w.:+-]+`;
/** Matches a cell that consists of such tokens, not a text that contains one. */
const CELL = new RegExp(String.raw`(?<![\w.:+= -])${TOKEN}(?: ${TOKEN})*(?![\w.:+= -])`);

/** Reads in any encoding how a corrections file says it was read, because that decides how Lote decodes it. */
export function readAsInHead(head: Uint8Array): ReadAs {
  const ascii = Buffer.from(head).toString('latin1').replaceAll('\0', '');
  const at = ascii.indexOf(READ_AS);
  return at < 0 ? {} : parseReadAs(CELL.exec(ascii.slice(at + READ_AS.length))?.[0] ?? '');
}

/** Several times the size of a corrections workbook: Lote does not open a larger file twice. */
const MOST_BYTES = 8 * 1024 ** 2;

/** Returns how the first rows of a corrections workbook say it was read; {} for any other or unreadable workbook. */
export async function readAsInWorkbook(path: string): Promise<ReadAs> {
  if ((await stat(path)).size > MOST_BYTES) return {};
  const head = await readTableHead(path, {}, { mostRows: HEADER_WITHIN });
  const at = head?.header.cells.findIndex((cell) => cell.trim() === READ_AS) ?? -1;
  const texts = head?.below.map((cells) => cells[at]?.trim() ?? '') ?? [];
  return parseReadAs(texts.find((text) => text !== '') ?? '');
}
