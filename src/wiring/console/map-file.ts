import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import type { ColumnMeaning, MappedColumn, MappedFile, MappingChoices } from '../../console/mapping/file-mapper.ts';
import { MOST_COLUMNS, MOST_TAX_WORDS } from '../../console/mapping/mapping-choices.ts';
import { COLUMNS, REQUIRED_COLUMNS, type Column } from '../../domain/row.ts';
import type { IngestOptions } from '../../ingest/ingest-options.ts';
import { prefixOf } from '../../ingest/profile/choose-profile.ts';
import { isProfileName } from '../../ingest/profile/mapping-profile.ts';
import { readTableHead, type TableHead } from '../../ingest/profile/table-head.ts';
import { unknownTaxWords } from '../../ingest/profile/tax-words.ts';
import type { BodyTemplate } from '../../service-profile/body-template.ts';
import { checkFile } from '../files/check-file.ts';
import type { CheckMemory } from '../files/check-memory.ts';

const MOST_SAMPLES = 3;
/** What a profile may hold; a longer header cannot be named in one. */
const LONGEST_TEXT = 200;
const DEFAULT_SEPARATOR = '-';
const ID_DIGITS = 12;
const FEWEST_PARTS = 2;

/** What a mapping is worked out from. */
export interface MappingRequest {
  readonly path: string;
  readonly inputDir: string;
  readonly choices: MappingChoices;
  readonly bodyTemplate: BodyTemplate;
  /** What the rows of its dry run may take. */
  readonly memory: CheckMemory;
}

/**
 * The head of a file with a person's choices applied, and a dry run under them. Null for what is no table.
 * @throws LoteError `file-unreadable`
 */
export async function mapFile(request: MappingRequest): Promise<MappedFile | null> {
  const mapping = await chosenMapping(request.path, request.choices);
  return mapping === null ? null : mappedFile(request, mapping);
}

/**
 * The mapping that a person has chosen, as the text of a profile; null while it is not whole, when a dry run refuses it, when it was chosen for
 * another header, and for what is no table.
 */
export async function mappingText(request: MappingRequest): Promise<string | null> {
  const mapping = await chosenMapping(request.path, request.choices);
  if (mapping === null || headerId(mapping.head) !== request.choices.headerId) return null;
  const { check } = await mappedFile(request, mapping);
  return check === null || check.refused ? null : `${JSON.stringify(mapping.options, null, 2)}\n`;
}

async function mappedFile(
  { path, inputDir, choices, bodyTemplate, memory }: MappingRequest,
  mapping: ChosenMapping,
): Promise<MappedFile> {
  const { head, columns, options } = mapping;
  const gaps = gapsOf(mapping);
  const whole = gaps.missing.length + gaps.twice.length === 0;
  return {
    headerRow: head.header.row,
    headerId: headerId(head),
    ...{ columns, dialect: head.dialect, sheets: head.sheets, sheet: head.sheet },
    ...gaps,
    separator: choices.separator ?? DEFAULT_SEPARATOR,
    taxWords: taxWordsOf(head, columns, choices),
    check: whole ? await checkFile(path, inputDir, { mapping: options, bodyTemplate, memory }) : null,
    suggestedName: suggestedName(path),
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

async function chosenMapping(path: string, choices: MappingChoices): Promise<ChosenMapping | null> {
  const { encoding, delimiter, sheet, decimal } = choices;
  const declared = {
    ...(encoding === undefined ? {} : { encoding }),
    ...(delimiter === undefined ? {} : { delimiter }),
    ...(sheet === undefined ? {} : { sheet }),
  };
  const head = await readTableHead(path, declared);
  if (head === null) return null;
  const columns = columnsOf(head, choices);
  return {
    ...{ head, columns },
    options: {
      // What the file was only guessed to be, no profile may declare for the files to come.
      ...(encoding === undefined ? {} : { encoding }),
      ...(head.dialect === null ? {} : { delimiter: head.dialect.delimiter }),
      ...(head.sheets.length > 1 && head.sheet !== null ? { sheet: head.sheet } : {}),
      ...(decimal === undefined ? {} : { decimal }),
      ...meaningOptions(columns, choices, unseen(head)),
      ...taxOptions(taxWordsOf(head, columns, choices)),
    },
  };
}

/** Choices made for another header, before encoding, delimiter or sheet was changed, mean other columns. */
function columnsOf(head: TableHead, { meanings, headerId: chosenFor }: MappingChoices): readonly MappedColumn[] {
  const chosen: MappingChoices['meanings'] = chosenFor === headerId(head) ? meanings : new Map();
  return head.header.cells.slice(0, MOST_COLUMNS).map((cell, at) => {
    const header = cell.trim();
    const usable = header !== '' && header.length <= LONGEST_TEXT;
    const samples = head.below.map((cells) => (cells[at] ?? '').trim()).filter((text) => text !== '');
    return {
      header,
      samples: [...new Set(samples)].slice(0, MOST_SAMPLES),
      meaning: usable ? (chosen.get(at) ?? proposed(head, at)) : 'none',
    };
  });
}

function proposed({ map }: TableHead, at: number): ColumnMeaning {
  return COLUMNS[map.indexes.indexOf(at)] ?? 'none';
}

/** Headers beyond those that a page shows, which Lote would understand: nobody has chosen them. */
function unseen({ header, map }: TableHead): readonly string[] {
  return map.indexes.filter((at) => at >= MOST_COLUMNS).map((at) => (header.cells[at] ?? '').trim());
}

function meaningOptions(
  columns: readonly MappedColumn[],
  { separator, constants }: MappingChoices,
  notShown: readonly string[],
): IngestOptions {
  const ofMeaning = (meaning: ColumnMeaning): readonly string[] =>
    columns.filter((one) => one.meaning === meaning).map(({ header }) => header);
  const parts = ofMeaning('reference-part');
  const named = COLUMNS.flatMap((column): [Column, string][] => ofMeaning(column).map((header) => [column, header]));
  const given = Object.entries(constants).filter(([column]) => !named.some(([one]) => one === column));
  // One part alone builds nothing, and what Lote would understand by itself was not chosen.
  const lonely = parts.length < FEWEST_PARTS ? parts : [];
  const ignore = [...ofMeaning('none'), ...lonely, ...notShown].filter(
    (header) => header !== '' && header.length <= LONGEST_TEXT,
  );
  return {
    columns: Object.fromEntries(named),
    ...(ignore.length === 0 ? {} : { ignore }),
    ...(given.length === 0 ? {} : { constants: Object.fromEntries(given) }),
    ...(parts.length < FEWEST_PARTS
      ? {}
      : { reference: { columns: parts, separator: separator ?? DEFAULT_SEPARATOR } }),
  };
}

function taxWordsOf(
  { below }: TableHead,
  columns: readonly MappedColumn[],
  { taxCodes }: MappingChoices,
): MappedFile['taxWords'] {
  const at = columns.findIndex(({ meaning }) => meaning === 'tax_code');
  const shown = below.map((cells) => cells[at] ?? '');
  // Words that a person adds may stand further down than the first rows.
  return unknownTaxWords([...shown, ...taxCodes.keys()], MOST_TAX_WORDS).map(({ word, code }) => ({
    word,
    code: taxCodes.get(word) ?? code ?? '',
  }));
}

function taxOptions(words: MappedFile['taxWords']): IngestOptions {
  const known = words.filter(({ code }) => code !== '').map(({ word, code }) => [word, code] as const);
  return known.length === 0 ? {} : { taxCodes: Object.fromEntries(known) };
}

function headerId({ header }: TableHead): string {
  return createHash('sha256').update(JSON.stringify(header.cells)).digest('hex').slice(0, ID_DIGITS);
}

/** A name that chooses this file: what comes before its first digit, else its whole stem. `extrato` for `Extrato-2026-11.csv`. */
function suggestedName(path: string): string {
  const file = basename(path).toLowerCase();
  const stem = file.replace(/\.[^.]*$/u, '');
  const letters = /^[^\d]*/u.exec(stem)?.[0].replace(/[-_. ]+$/u, '') ?? '';
  return [letters, stem].find((name) => isProfileName(name) && prefixOf(file, [name]) === name) ?? '';
}
