import { basename, join } from 'node:path';
import type { ReadOptions } from '../../../activities/deps.ts';
import { LoteError } from '../../domain/errors.ts';
import { givenOnly } from '../../domain/given-only.ts';
import type { Finding } from '../../domain/invoice.ts';
import { READ_AS, type ReadAs } from '../../domain/read-as.ts';
import {
  chooseProfile,
  type ChosenProfile,
  readAsInHead,
  readAsInWorkbook,
} from '../../ingest/profile/choose-profile.ts';
import { fileChunks } from '../../ingest/file-chunks.ts';
import type { IngestOptions, IngestResult, Proof } from '../../ingest/ingest-result.ts';
import { readFile } from '../../ingest/read-file.ts';
import { isArchive } from '../../ingest/workbook/open-workbook.ts';
import type { RowStore } from '../../domain/row.ts';
import { isSameEncoding } from '../../ingest/encoding/decide-encoding.ts';
import { FileProof } from './file-proof.ts';

/** A file as a person names it. The file name may choose the profile, and so may `options`. */
export interface NamedFile {
  readonly file: string;
  readonly inputDir: string;
  readonly options: ReadOptions;
}

/** Input for reading a file. */
export interface ReadWithProfile extends NamedFile {
  readonly path: string;
  readonly store: RowStore;
  /** A mapping to try instead of a profile. */
  readonly mapping?: IngestOptions | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Returns the mapping profile that Lote would use for the file now, or null. Without a path, neither the bytes nor the
 * header can choose a profile.
 * @throws LoteError `usage` for a profile that is missing or wrong; `file-unreadable`
 */
export async function profileOf(
  path: string | null,
  { file, inputDir, options }: NamedFile,
  readAs?: ReadAs,
): Promise<ChosenProfile | null> {
  const { profile: written } = readAs ?? (path === null ? {} : await readAsIn(path));
  const directory = join(inputDir, 'profiles');
  return chooseProfile({ directory, file: basename(file), path, written, named: options.profile });
}

/**
 * Refuses a missing or wrong profile before the start. A missing file is reported later, when it is opened.
 * @throws LoteError `usage`
 */
export async function requireProfile(named: NamedFile): Promise<void> {
  try {
    await profileOf(named.file, named);
  } catch (error) {
    if (!(error instanceof LoteError) || error.code !== 'file-unreadable') throw error;
  }
}

/** Reads the settings in the first bytes of a corrections file. @throws LoteError `file-unreadable` */
async function readAsIn(path: string): Promise<ReadAs> {
  for await (const head of fileChunks(path)) return isArchive(head) ? readAsInWorkbook(path) : readAsInHead(head);
  return {};
}

/**
 * Reads a file through its profile. An operator's declaration wins over the settings in a corrections file, which win
 * over the profile. The proof and a finding name the profile.
 */
export async function readWithProfile(given: ReadWithProfile): Promise<IngestResult> {
  const { path, store, options, mapping, signal } = given;
  const readAs = await readAsIn(path);
  const chosen = mapping === undefined ? await profileOf(path, given, readAs) : null;
  const { profile: _, ...declared } = options;
  const { decimal, duplicateRows, ...ofProfile } = mapping ?? inCorrections(chosen?.profile.options ?? {}, readAs);
  const merged: IngestOptions = {
    ...ofProfile,
    // The row reader finds the settings in the rows, also where the first rows have none.
    ofProfile: givenOnly({ decimal, duplicateRows }),
    // The row reader applies a corrections file's decimal mark and its rule for repeated rows.
    ...givenOnly({ likelyEncoding: readAs.encoding, likelyDelimiter: readAs.delimiter }),
    ...declared,
  };
  const read = await readFile({ path, store, options: merged, signal });
  const missed = missedProfile(read, chosen, mapping !== undefined);
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
 * A spreadsheet saves corrections with its own delimiter, whatever the profile says. Their encoding is that of the
 * first file, which may have been declared against the profile, or the one that their bytes prove.
 */
function inCorrections({ delimiter, encoding, ...others }: IngestOptions, readAs: ReadAs): IngestOptions {
  const isFirst = readAs.profile === undefined;
  return {
    ...others,
    ...(readAs.encoding === undefined ? givenOnly({ encoding }) : {}),
    ...givenOnly(isFirst ? { delimiter } : { likelyDelimiter: delimiter }),
  };
}

/**
 * Finds a profile that corrections name only far below the first rows, behind a long first JSON invoice, or in a large
 * workbook. For a text, a declared profile or a tried mapping is a deliberate choice against that name.
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

/**
 * Lists how a file would be read now in contrast to its proof, such as `decimal mark "." instead of ","`. Compares the
 * mapping profile in force and each declared option; undeclared options count as unchanged. `path` names the bytes, or
 * is null if they are gone.
 */
export async function readOtherwise(path: string | null, file: NamedFile, known: Proof): Promise<readonly string[]> {
  const proof = FileProof.parse(known);
  if (proof.dialect === undefined) return [];
  return [...(await otherProfile(path, file, proof)), ...otherDeclarations(file.options, proof)];
}

async function otherProfile(path: string | null, file: NamedFile, { profile: before }: FileProof) {
  try {
    const now = (await profileOf(path, file))?.profile;
    if (now?.sha256 === before?.sha256) return [];
    return [
      `${now === undefined ? 'no mapping profile' : `mapping profile ${named(now)}`} instead of ${named(before)}`,
    ];
  } catch (error) {
    if (!(error instanceof LoteError) || error.code !== 'usage') throw error;
    return [`a mapping profile that cannot be read instead of ${named(before)} (${error.message})`];
  }
}

function named(profile: { readonly name: string; readonly sha256: string } | undefined): string {
  return profile === undefined ? 'none' : `${profile.name} (sha256 ${profile.sha256.slice(0, 12)}…)`;
}

function otherDeclarations(declared: ReadOptions, proof: FileProof): readonly string[] {
  const { decimal, encoding, delimiter, sheet, duplicateRows } = declared;
  // If no cell depends on the mark, another mark gives the same numbers.
  const dependsOnMark = (proof.decimal?.witness ?? proof.decimal?.ambiguous ?? null) !== null;
  const isSame = (now: string, before: string): boolean => now.toLowerCase() === before.toLowerCase();
  const texts = [
    ['decimal mark', decimal, dependsOnMark ? proof.decimal?.mark : undefined, isSame],
    ['encoding', encoding, proof.encoding?.name, isSameEncoding],
    ['delimiter', delimiter, proof.delimiter?.value, isSame],
    ['sheet', sheet, proof.dialect?.sheet?.name, isSame],
    ['identical rows:', duplicateRows, proof.duplicateRows ?? 'refuse', isSame],
  ] as const;
  return texts.flatMap(([what, now, before, same]) =>
    now === undefined || before === undefined || same(now, before)
      ? []
      : [`${what} ${JSON.stringify(now)} instead of ${JSON.stringify(before)}`],
  );
}
