import { basename, isAbsolute, join, relative } from 'node:path';
import type { ReadOptions } from '../../../activities/deps.ts';
import { LoteError } from '../../domain/errors.ts';
import { givenOnly } from '../../domain/given-only.ts';
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
import type { IngestResult, Proof } from '../../ingest/ingest-result.ts';
import { readFile } from '../../ingest/read-file.ts';
import { isArchive } from '../../ingest/workbook/open-workbook.ts';
import type { RowStore } from '../../domain/row.ts';
import { isSameEncoding } from '../../ingest/encoding/decide-encoding.ts';
import { FileProof } from './file-proof.ts';

/** A file as a person names it: its name may choose the profile, and so may `options`. */
export interface NamedFile {
  readonly file: string;
  readonly inputDir: string;
  readonly options: ReadOptions;
}

/** How a file is read. */
export interface ReadWithProfile extends NamedFile {
  /** Where the bytes are. */
  readonly path: string;
  readonly store: RowStore;
  /** A mapping that is tried: it stands for the profile, and no other is chosen. */
  readonly mapping?: IngestOptions | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The mapping profile with which a file would be read now, if any. Without a path, neither its bytes nor its header
 * choose one.
 * @throws LoteError `usage` for a profile that is not there or is wrong; `file-unreadable`
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
 * Says before anything is started that a profile is missing or wrong. A missing file is reported by what opens it.
 * @throws LoteError `usage`
 */
export async function requireProfile(named: NamedFile): Promise<void> {
  try {
    await profileOf(named.file, named);
  } catch (error) {
    if (!(error instanceof LoteError) || error.code !== 'file-unreadable') throw error;
  }
}

/** What a corrections file says of itself in its first bytes. @throws LoteError `file-unreadable` */
async function readAsIn(path: string): Promise<ReadAs> {
  for await (const head of fileChunks(path)) return isArchive(head) ? readAsInWorkbook(path) : readAsInHead(head);
  return {};
}

/**
 * Reads a file through its profile. What an operator declares wins over what a corrections file says of itself, and that over what the profile says.
 * The proof and a finding name the profile.
 */
export async function readWithProfile(given: ReadWithProfile): Promise<IngestResult> {
  const { path, store, options, mapping, signal } = given;
  const readAs = await readAsIn(path);
  const chosen = mapping === undefined ? await profileOf(path, given, readAs) : null;
  const { profile: _, ...declared } = options;
  const { decimal, duplicateRows, ...ofProfile } = mapping ?? inCorrections(chosen?.profile.options ?? {}, readAs);
  const merged: IngestOptions = {
    ...ofProfile,
    // The reader of the rows finds what they say, also where the first ones do not.
    ofProfile: givenOnly({ decimal, duplicateRows }),
    // Of what a corrections file says, decimal marks and repeated rows are for the reader of the rows.
    ...givenOnly({ likelyEncoding: readAs.encoding, likelyDelimiter: readAs.delimiter }),
    ...declared,
  };
  const found = await readFile({ path, store, options: merged, signal });
  const read = found.ok ? found : await withCommand(found, given);
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
 * Corrections that a spreadsheet has saved have a delimiter of its own, whatever the profile says of the first file. Their encoding is that of the
 * first file, which may have been declared against the profile, or what their bytes prove.
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

/**
 * In what a file would be read otherwise now than its proof says, such as `decimal mark "." instead of ","`. The mapping
 * profile in force is compared, and whatever is declared; what is not declared stays as it was. `path`: where the bytes
 * are; null: they are gone.
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
  const known = proof.encoding?.name;
  const isEncodingOther = encoding !== undefined && known !== undefined && !isSameEncoding(encoding, known);
  // Where no cell depends on the mark, another one gives the same numbers.
  const dependsOnMark = (proof.decimal?.witness ?? proof.decimal?.ambiguous ?? null) !== null;
  const isMarkOther = decimal !== undefined && dependsOnMark && decimal !== proof.decimal?.mark;
  const texts = [
    ['delimiter', delimiter, proof.delimiter?.value],
    ['sheet', sheet, proof.dialect?.sheet?.name],
    ['identical rows:', duplicateRows, proof.duplicateRows ?? 'refuse'],
  ] as const;
  return [
    ...(isMarkOther ? [`decimal mark "${decimal}" instead of "${proof.decimal?.mark}"`] : []),
    ...(isEncodingOther ? [`encoding ${JSON.stringify(encoding)} instead of ${JSON.stringify(known)}`] : []),
    ...texts.flatMap(([what, now, before]) =>
      now === undefined || before === undefined || now.toLowerCase() === before.toLowerCase()
        ? []
        : [`${what} ${JSON.stringify(now)} instead of ${JSON.stringify(before)}`],
    ),
  ];
}
