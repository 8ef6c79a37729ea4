import { createHash, randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type {
  ColumnMeaning,
  KeptMapping,
  KindValues,
  MappedColumn,
  MappedFile,
  MappingChoices,
  MappingLook,
} from '../../console/console-options.ts';
import { MOST_COLUMNS, MOST_TAX_WORDS } from '../../console/mapping/mapping-choices.ts';
import { LoteError } from '../../domain/errors.ts';
import { givenOnly } from '../../domain/given-only.ts';
import { COLUMNS, REQUIRED_COLUMNS, type Column } from '../../domain/row.ts';
import { widthOf } from '../../ingest/profile/map-header.ts';
import type { IngestOptions } from '../../ingest/ingest-result.ts';
import { suggestedName } from '../../ingest/profile/choose-profile.ts';
import { isProfileName, parseProfile } from '../../ingest/profile/mapping-profile.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { writeNewFile } from '../../platform/files.ts';
import { folderTrouble, makeFolder } from '../../platform/folders.ts';
import { checkFile } from './check-file.ts';
import { readTableHead, type TableHead } from '../../ingest/profile/table-head.ts';

const MOST_SAMPLES = 3;
/** Limit of a profile, which cannot name a longer header. */
const LONGEST_HEADER = 1_000;
const MOST_KINDS = 20;
const DEFAULT_SEPARATOR = '-';
const ID_DIGITS = 12;
const FEWEST_PARTS = 2;

/** Input of a mapping. */
export interface MappingRequest {
  readonly path: string;
  readonly inputDir: string;
  readonly choices: MappingChoices;
  readonly bodyTemplate: unknown;
}

/**
 * Returns the head of a file with a person's choices and a dry run under them, or null if the file is no table.
 * @throws LoteError `file-unreadable`
 */
export async function mapFile(request: MappingRequest): Promise<MappedFile | null> {
  const { path, inputDir, choices, bodyTemplate } = request;
  const mapping = await chosenMapping(path, choices);
  if (mapping === null) return null;
  const { head, columns, options } = mapping;
  const gaps = gapsOf(mapping);
  const isWhole = gaps.missing.length + gaps.twice.length === 0;
  const check = isWhole ? await checkFile(path, inputDir, { mapping: options, bodyTemplate }) : null;
  return {
    headerRow: head.header.row,
    headerId: headerId(head),
    ...{ columns, looks: mappingLooks(head, columns), dialect: head.dialect, sheets: head.sheets, sheet: head.sheet },
    ...gaps,
    separator: choices.separator ?? DEFAULT_SEPARATOR,
    taxWords: taxWordsOf(head, columns, choices),
    check,
    isRead: check?.refused === false && (choices.headerId ?? headerId(head)) === headerId(head),
    profile: `${JSON.stringify({ format: head.format, ...options }, null, 2)}\n`,
    suggestedName: await suggestedName(join(inputDir, 'profiles'), path),
  };
}

function gapsOf({ columns, options }: ChosenMapping): Pick<MappedFile, 'open' | 'missing' | 'twice'> {
  const times = (column: Column): number => columns.filter(({ meaning }) => meaning === column).length;
  const built = options.reference === undefined ? 0 : 1;
  const claims = (column: Column): number => times(column) + (column === 'invoice_ref' ? built : 0);
  const open = COLUMNS.filter((column) => claims(column) === 0);
  return {
    open,
    missing: open.filter((column) => REQUIRED_COLUMNS.includes(column) && options.constants?.[column] === undefined),
    twice: COLUMNS.filter((column) => claims(column) > 1),
  };
}

interface ChosenMapping {
  readonly head: TableHead;
  readonly columns: readonly MappedColumn[];
  readonly options: IngestOptions;
}

/** Returns a person's choices for the head of a file, complete or not; null if the file is no table. @throws LoteError `file-unreadable` */
export async function chosenMapping(path: string, choices: MappingChoices): Promise<ChosenMapping | null> {
  const { decimal, delimiter, encoding, sheet } = choices;
  const head = await readTableHead(path, givenOnly({ encoding, delimiter, sheet }));
  if (head === null) return null;
  const columns = columnsOf(head, choices);
  return {
    head,
    columns,
    options: {
      // A profile must not declare for future files what Lote has only guessed for this file.
      ...givenOnly({
        encoding,
        delimiter,
        sheet: head.sheets.length > 1 ? (head.sheet ?? undefined) : undefined,
        decimal,
      }),
      ...meaningOptions(head, columns, choices),
      ...taxOptions(taxWordsOf(head, columns, choices), taxCells(head, columns)),
    },
  };
}

/** Ignores choices for another header, as before a change of encoding, delimiter or sheet: they mean other columns. */
function columnsOf(head: TableHead, { meanings, kinds, headerId: chosenFor }: MappingChoices): readonly MappedColumn[] {
  const isSame = chosenFor === undefined || chosenFor === headerId(head);
  const cells = head.header.cells.slice(0, Math.min(widthOf(head.header.cells), MOST_COLUMNS));
  return cells.map((cell, at) => {
    const header = cell.trim();
    const isOpen = header !== '' && header.length <= LONGEST_HEADER && (head.format !== 'json' || at >= COLUMNS.length);
    const values = [...new Set(head.below.map((row) => (row[at] ?? '').trim()).filter((text) => text !== ''))];
    const meaning = (isOpen && isSame ? meanings.get(at) : undefined) ?? proposed(head, at);
    return {
      ...{ header, meaning, isOpen },
      samples: values.slice(0, meaning === 'kind' ? MOST_KINDS : MOST_SAMPLES),
      kind: meaning === 'kind' ? kindOf(values, kinds?.get(at)) : null,
    };
  });
}

/** Values of the first rows that are not skipped count as invoices. */
function kindOf(values: readonly string[], { skip = [], invoices = [] }: Partial<KindValues> = {}): KindValues {
  const shown = invoices.length > 0 ? invoices : values.slice(0, MOST_KINDS);
  return { skip, invoices: shown.filter((value) => !skip.includes(value)) };
}

/** Returns the column with Lote's own name, else the only likely one; a person chooses between two. */
function proposed({ map, likely }: TableHead, at: number): ColumnMeaning {
  const own = COLUMNS[map.indexes.indexOf(at)];
  const column = COLUMNS[likely.indexes.indexOf(at)];
  if (own !== undefined || column === undefined) return own ?? 'none';
  const isTaken = map.indexes[COLUMNS.indexOf(column)] !== -1;
  return isTaken || likely.duplicates.some((twice) => twice.column === column) ? 'none' : column;
}

function meaningOptions(
  { format }: TableHead,
  columns: readonly MappedColumn[],
  { separator, constants }: MappingChoices,
): IngestOptions {
  const ofMeaning = (meaning: ColumnMeaning): readonly string[] =>
    columns.filter((one) => one.meaning === meaning).map(({ header }) => header);
  const parts = ofMeaning('reference-part');
  const named = COLUMNS.flatMap((column): [Column, string][] => ofMeaning(column).map((header) => [column, header]));
  const given = Object.entries(constants).filter(([column]) => !named.some(([one]) => one === column));
  // A reference cannot be built from a single part.
  const lonely = parts.length < FEWEST_PARTS ? parts : [];
  const ignore = [...new Set([...ofMeaning('none'), ...lonely])].filter((header) => header.length <= LONGEST_HEADER);
  const kinds = columns.flatMap(({ header, kind }) => (kind === null ? [] : [[header, kind] as const]));
  const ofKinds = (which: keyof KindValues) => objectOf(kinds.map(([header, values]) => [header, values[which]]));
  return givenOnly({
    columns: format === 'json' ? undefined : Object.fromEntries(named),
    ignore: ignore.length === 0 ? undefined : ignore,
    skip: ofKinds('skip'),
    invoices: ofKinds('invoices'),
    constants: objectOf(given),
    reference:
      lonely.length > 0 || parts.length === 0
        ? undefined
        : { columns: parts, separator: separator ?? DEFAULT_SEPARATOR },
  });
}

function objectOf<Value>(members: readonly (readonly [string, Value])[]): Record<string, Value> | undefined {
  return members.length === 0 ? undefined : Object.fromEntries(members);
}

/** Returns each distinct word of the tax column that is no code of the service, with its likely code. */
function taxWordsOf(
  head: TableHead,
  columns: readonly MappedColumn[],
  { taxCodes }: MappingChoices,
): MappedFile['taxWords'] {
  // A person may add words from rows below the first ones.
  const cells = [...taxCells(head, columns), ...taxCodes.keys()].map((cell) => cell.trim());
  return [...new Set(cells)]
    .filter((word) => word !== '' && !KNOWN_CODE.test(word) && word.length <= LONGEST_WORD)
    .slice(0, MOST_TAX_WORDS)
    .map((word) => ({ word, code: taxCodes.get(word) ?? likelyCode(word) }));
}

function taxCells({ below }: TableHead, columns: readonly MappedColumn[]): readonly string[] {
  const at = columns.findIndex(({ meaning }) => meaning === 'tax_code');
  return below.map((cells) => (cells[at] ?? '').trim());
}

/** Keeps the service's codes beside translated words, because a profile with tax words accepts no other words. */
function taxOptions(words: MappedFile['taxWords'], cells: readonly string[]): IngestOptions {
  const translated = words.filter(({ code }) => code !== '').map(({ word, code }) => [word, code] as const);
  const codes = [...new Set(cells)].filter((cell) => KNOWN_CODE.test(cell)).map((code) => [code, code] as const);
  return translated.length === 0 ? {} : { taxCodes: Object.fromEntries([...translated, ...codes]) };
}

function headerId({ header }: TableHead): string {
  return createHash('sha256').update(JSON.stringify(header.cells)).digest('hex').slice(0, ID_DIGITS);
}

/** Limit of a profile. */
const LONGEST_WORD = 200;

const RATE = /^(\d{1,2})(?:[.,]0+)?\s*%?$/;
/** A code of the service, which needs no translation. */
const KNOWN_CODE = /^IVA_\d+(?:[._]\d+)?$/;

/** `IVA_23` for `23,00 %`; empty if the word is no rate. */
function likelyCode(word: string): string {
  const rate = RATE.exec(word)?.[1];
  return rate === undefined ? '' : `IVA_${Number(rate)}`;
}

/** A single row does not show which rows belong together. */
const FEWEST_ROWS = 2;
/** Hints in the first rows for a person who confirms the mapping. They decide nothing. */
function mappingLooks({ below, format }: TableHead, columns: readonly MappedColumn[]): readonly MappingLook[] {
  const valuesOf = (at: number): readonly string[] => below.map((cells) => (cells[at] ?? '').trim());
  const placeOf = (column: Column): number => columns.findIndex(({ meaning }) => meaning === column);
  const headerOf = (column: Column): string => columns[placeOf(column)]?.header ?? '';
  const isPart = ({ meaning }: MappedColumn): boolean => meaning === 'invoice_ref' || meaning === 'reference-part';
  const parts = columns.flatMap((column, at) => (isPart(column) ? [valuesOf(at)] : []));
  const references = (parts[0] ?? []).map((_, row) => parts.map((part) => part[row] ?? '').join('\n'));
  const reference = columns.find(isPart)?.header ?? '';
  const looks: MappingLook[] = [];
  if (references.length >= FEWEST_ROWS && new Set(references).size === 1 && format !== 'json')
    looks.push({ code: 'same-reference', header: reference, other: references[0] ?? '' });
  columns.forEach(({ header, meaning }, at) => {
    if (meaning === 'none' && header !== '' && differsWithin(references, valuesOf(at)))
      looks.push({ code: 'differs', header, other: reference });
  });
  // One company sells to many customers, so a merchant that differs with each customer may be the customer.
  const customers = new Set(valuesOf(placeOf('customer_name'))).size;
  for (const column of ['merchant_nif', 'merchant_legal_name'] as const) {
    const merchants = new Set(valuesOf(placeOf(column))).size;
    if (merchants >= FEWEST_ROWS && merchants >= customers)
      looks.push({ code: 'merchants', header: headerOf(column), other: headerOf('customer_name') });
  }
  return looks;
}

function differsWithin(references: readonly string[], values: readonly string[]): boolean {
  const first = new Map<string, string>();
  return references.some((reference, row) => {
    const value = values[row] ?? '';
    const earlier = first.get(reference);
    if (earlier === undefined) first.set(reference, value);
    return earlier !== undefined && earlier !== value;
  });
}

/** Every account that may read Lote's output may read profiles. Lote creates their folder if it is missing. */
const DIRECTORY_MODE = 0o750;
const FILE_MODE = 0o640;
/** Audit id for actions on mapping profiles, which belong to no batch. */
const MAPPING_AUDIT = 'mapping-profile';

/**
 * Writes `profiles/NAME.json` of the input folder and returns its path, without an audit: a prompt need not open a ledger.
 * @throws LoteError `usage` for a name that is taken, `folder-unusable`
 */
export async function writeProfile(inputDir: string, name: string, text: string): Promise<string> {
  parseProfile(name, Buffer.from(text));
  const path = await writeOnce(inputDir, name, text);
  if (path !== null) return path;
  throw new LoteError(
    'usage',
    `Saving a mapping profile: profiles/${name}.json of the input directory exists, and is never overwritten. Save under another name, or remove that file first.`,
  );
}

/**
 * Writes `profiles/NAME.json` of the input folder and a line of the audit, or neither. Never overwrites a profile.
 * @throws LoteError `folder-unusable`; `usage` for a text that is no mapping profile
 */
export async function saveMapping(
  { inputDir, ledger }: { readonly inputDir: string; readonly ledger: Pick<Ledger, 'noteActions'> },
  { name, text, by }: { readonly name: string; readonly text: string; readonly by: string },
): Promise<Exclude<KeptMapping, 'open'>> {
  if (!isProfileName(name)) return 'name';
  const { sha256 } = parseProfile(name, Buffer.from(text));
  const path = await writeOnce(inputDir, name, text);
  if (path === null) return 'taken';
  try {
    const why = `profiles/${name}.json (sha256 ${sha256.slice(0, 12)})`;
    const action = { who: by, what: 'save-mapping', why };
    await ledger.noteActions(MAPPING_AUDIT, [{ actionId: randomUUID(), at: Date.now(), ...action }]);
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
  return 'saved';
}

/** Returns the path of the new profile, or null if its name is taken. @throws LoteError `folder-unusable` */
async function writeOnce(inputDir: string, name: string, text: string): Promise<string | null> {
  const folder = { title: 'folder of mapping profiles', path: join(inputDir, 'profiles'), variable: 'LOTE_INPUT_DIR' };
  const path = join(folder.path, `${name}.json`);
  try {
    await makeFolder(folder.path, DIRECTORY_MODE);
    return (await writeNewFile(path, text, FILE_MODE)) ? path : null;
  } catch (error) {
    throw folderTrouble(error, folder, { next: '. Nothing was saved: make it writable, and save again.' });
  }
}
