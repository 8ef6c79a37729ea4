import { basename, isAbsolute, join, relative } from 'node:path';
import type { ReadOptions } from '../../../activities/deps.ts';
import { LoteError } from '../../domain/errors.ts';
import type { Finding } from '../../domain/invoice.ts';
import { READ_AS, type ReadAs } from '../../domain/read-as.ts';
import {
  chooseProfile,
  suggestedName,
  type ChosenProfile,
  readAsInHead,
  readAsInWorkbook,
} from '../../ingest/profile/choose-profile.ts';
import { CONFIRM_COMMAND } from '../../ingest/profile/found-header.ts';
import { fileChunks } from '../../ingest/file-chunks.ts';
import type { IngestOptions } from '../../ingest/ingest-options.ts';
import type { IngestResult } from '../../ingest/ingest-result.ts';
import type { Profile } from '../../ingest/profile/mapping-profile.ts';
import { readFile } from '../../ingest/read-file.ts';
import { isArchive } from '../../ingest/workbook/open-workbook.ts';
import type { RowStore } from '../../domain/row.ts';

export interface ReadWithProfile {
  /** Where the bytes are. */
  readonly path: string;
  /** The name under which the file was dropped: it may choose the profile. */
  readonly file: string;
  readonly inputDir: string;
  readonly store: RowStore;
  readonly options: ReadOptions;
  /** A mapping that is tried: it stands for the profile, and no other is chosen. */
  readonly mapping?: IngestOptions;
  readonly signal?: AbortSignal;
}

/** The profile of a file, if any. Without a path, its header chooses none. @throws LoteError `usage` for one that is not there or is wrong */
async function profileOf(
  given: Pick<ReadWithProfile, 'file' | 'inputDir' | 'options'>,
  readAs: ReadAs,
  path: string | null,
) {
  const { profile: named } = given.options;
  return chooseProfile({
    directory: join(given.inputDir, 'profiles'),
    file: basename(given.file),
    ...(path === null ? {} : { path }),
    ...(readAs.profile === undefined ? {} : { written: readAs.profile }),
    ...(named === undefined ? {} : { named }),
  });
}

/**
 * Says before anything is started that a profile is missing or wrong.
 * @throws LoteError `usage`; a file that is not there is for others to report
 */
export async function requireProfile(inputDir: string, file: string, options: ReadOptions): Promise<void> {
  try {
    await profileOf({ file, inputDir, options }, await readAsIn(file), file);
  } catch (error) {
    if (!(error instanceof LoteError) || error.code !== 'file-unreadable') throw error;
  }
}

/**
 * SHA-256 of the mapping profile with which a file would be read now; null: with none.
 * @throws LoteError `usage` as the reading; `file-unreadable`
 */
export async function profileSha256(
  path: string,
  given: Pick<ReadWithProfile, 'file' | 'inputDir' | 'options'>,
): Promise<string | null> {
  return (await profileNow(path, given))?.sha256 ?? null;
}

/**
 * The mapping profile with which a file would be read now; null: with none. Without a path, only a declaration and the
 * file's name choose it.
 * @throws LoteError `usage` as the reading; `file-unreadable`
 */
export async function profileNow(
  path: string | null,
  given: Pick<ReadWithProfile, 'file' | 'inputDir' | 'options'>,
): Promise<Pick<Profile, 'name' | 'sha256'> | null> {
  const chosen = await profileOf(given, path === null ? {} : await readAsIn(path), path);
  return chosen?.profile ?? null;
}

/** What a corrections file says of itself. @throws LoteError `file-unreadable` */
async function readAsIn(path: string): Promise<ReadAs> {
  const head = await fileHead(path);
  return isArchive(head) ? readAsInWorkbook(path) : readAsInHead(head);
}

/**
 * Reads a file through its profile. What an operator declares wins over what a corrections file says of itself, and that over what the profile says.
 * The proof and a finding name the profile.
 */
export async function readWithProfile(given: ReadWithProfile): Promise<IngestResult> {
  const { path, store, options, signal } = given;
  const readAs = await readAsIn(path);
  const chosen = given.mapping === undefined ? await profileOf(given, readAs, path) : null;
  const { profile: _, ...declared } = options;
  const { decimal, duplicateRows, ...ofProfile } =
    given.mapping ?? inCorrections(chosen?.profile.options ?? {}, readAs);
  const merged: IngestOptions = {
    ...ofProfile,
    // The reader of the rows finds what they say, also where the first ones do not.
    ofProfile: {
      ...(decimal === undefined ? {} : { decimal }),
      ...(duplicateRows === undefined ? {} : { duplicateRows }),
    },
    ...asWritten(readAs),
    ...declared,
  };
  const found = await readFile({ path, store, options: merged, ...(signal === undefined ? {} : { signal }) });
  const read = found.ok ? found : await withCommand(found, given);
  const missed = missedProfile(read, chosen, given.mapping !== undefined);
  if (missed !== null) return { ...read, ok: false, refused: true, findings: [missed, ...read.findings] };
  if (chosen === null) return read;
  const { name, sha256 } = chosen.profile;
  return {
    ...read,
    findings: [...read.findings, profileUsed(chosen)],
    proof: { ...read.proof, profile: { name, sha256, how: chosen.how } },
  };
}

/**
 * Corrections that a spreadsheet has saved have a delimiter of its own, whatever the profile says of the first file. Their encoding is that of the
 * first file, which may have been declared against the profile, or what their bytes prove.
 */
function inCorrections(options: IngestOptions, readAs: ReadAs): IngestOptions {
  const { delimiter, encoding, ...others } = options;
  return {
    ...others,
    ...(encoding === undefined || readAs.encoding !== undefined ? {} : { encoding }),
    ...(delimiter === undefined ? {} : { [readAs.profile === undefined ? 'delimiter' : 'likelyDelimiter']: delimiter }),
  };
}

/** What was declared when the file of these corrections was read. Decimal marks and repeated rows are for the reader of the rows. */
function asWritten({ encoding, delimiter }: ReadAs): IngestOptions {
  return {
    ...(encoding === undefined ? {} : { likelyEncoding: encoding }),
    ...(delimiter === undefined ? {} : { likelyDelimiter: delimiter }),
  };
}

/**
 * Far below the first rows, behind a first invoice of JSON that is long, or in a large workbook, only the reader of its rows finds which profile
 * corrections name. In a text, who names another one or tries a mapping has chosen against that word.
 */
function missedProfile(read: IngestResult, chosen: ChosenProfile | null, isTried: boolean): Finding | null {
  const wanted = read.proof['correctedWith'];
  if (!read.ok || typeof wanted !== 'string' || chosen?.profile.name === wanted) return null;
  const isText = read.format !== 'xlsx' && read.format !== 'ods';
  if (isText && (isTried || chosen?.how === 'declared')) return null;
  const message = `These are corrections of a file that was read with the mapping profile ${wanted}, and they name it where it cannot choose how they are read. Run them with --profile ${wanted}`;
  return { row: null, column: READ_AS, code: 'corrections-profile', message, severity: 'error' };
}

const HOW: Readonly<Record<ChosenProfile['how'], string>> = {
  declared: 'as it was asked for',
  header: 'which names exactly its columns',
  corrections: 'as its column lote_read_as says',
  'file-name': "chosen by the file's name",
};

function profileUsed({ profile, how }: ChosenProfile): Finding {
  const message = `The file was read with the mapping profile ${profile.name} (sha256 ${profile.sha256.slice(0, 12)}…), ${HOW[how]}`;
  return { row: null, column: null, code: 'profile-used', message, severity: 'info' };
}

/** With the command that confirms a layout as it can be typed. */
async function withCommand(read: IngestResult, { file, inputDir }: ReadWithProfile): Promise<IngestResult> {
  if (!read.findings.some(({ message }) => message.includes(CONFIRM_COMMAND))) return read;
  const inside = relative(inputDir, file);
  const shown = inside.startsWith('..') || isAbsolute(inside) ? file : inside;
  const typed = /^[\w./-]+$/u.test(shown) ? shown : JSON.stringify(shown);
  const command = `\`lote check ${typed} --save-profile ${await suggestedName(join(inputDir, 'profiles'), file)}\``;
  const withWords = (message: string): string => message.replace(CONFIRM_COMMAND, () => command);
  return { ...read, findings: read.findings.map((one) => ({ ...one, message: withWords(one.message) })) };
}

/** The first bytes of a file. @throws LoteError `file-unreadable` */
async function fileHead(path: string): Promise<Buffer> {
  for await (const chunk of fileChunks(path)) return chunk;
  return Buffer.alloc(0);
}
