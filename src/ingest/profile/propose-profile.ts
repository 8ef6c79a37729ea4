import { COLUMNS, REQUIRED_COLUMNS } from '../../domain/row.ts';
import type { Column } from '../../domain/row.ts';
import { likeliestHeader } from '../csv/decide-dialect.ts';
import { decideEncoding, UndecodableAt } from '../encoding/decide-encoding.ts';
import { decodedHead } from '../encoding/decoded-head.ts';
import { DecimalEvidence } from '../csv/decimal-evidence.ts';
import type { IngestOptions } from '../ingest-options.ts';
import { Refusal } from '../refusal.ts';
import { scanFile } from '../scan-file.ts';
import { shorten } from '../invoice/shorten.ts';
import { sheetHeader } from '../workbook/choose-sheet.ts';
import { isArchive, openWorkbook } from '../workbook/open-workbook.ts';

/** A profile as a person will complete it. */
export type ProposedProfile = Readonly<Record<string, unknown>>;

const DESCRIPTION =
  'Proposed by lote check --propose. Read it, decide what says TO DO, and save it as profiles/<name>.json of the input directory.';
/** No header is called so: a profile with it is refused until somebody has decided. */
const UNDECIDED = 'TO DO: one of';
const RATE = /^(\d{1,2})(?:[.,]0+)?\s*%?$/;
const KNOWN_CODE = /^IVA_\d+(?:[._]\d+)?$/;
const MOST_TAX_WORDS = 20;
const MOST_SHOWN = 12;

/**
 * A starting profile for a CSV file, from its first megabyte, or for a workbook, from the first rows of its sheets: what was found, and what a person has to decide. Null for what is no table.
 * @throws LoteError `file-unreadable`
 */
export async function proposeProfile(path: string, options: IngestOptions = {}): Promise<ProposedProfile | null> {
  const scan = await scanFile(path);
  try {
    if (isArchive(scan.head)) return await proposeForWorkbook(path, options);
    const encoding = decideEncoding(scan, options);
    const found = await likeliestHeader(await decodedHead(scan, encoding), options);
    if (found === null) return null;
    return {
      description: DESCRIPTION,
      encoding: encoding.encoding,
      delimiter: found.delimiter,
      ...decimalOf(found),
      ...tableOf(found),
    };
  } catch (error) {
    if (error instanceof Refusal || error instanceof UndecodableAt) return null;
    throw error;
  }
}

/** Its numbers need no decimal mark; the sheet is named where there are several. */
async function proposeForWorkbook(path: string, options: IngestOptions): Promise<ProposedProfile | null> {
  const workbook = await openWorkbook(path);
  try {
    const visible = workbook.sheets.filter(({ hidden }) => !hidden);
    const [best] = visible
      .flatMap((sheet) => sheetHeader(sheet, options) ?? [])
      .sort((a, b) => b.map.found - a.map.found || b.header.cells.length - a.header.cells.length);
    if (best === undefined || best.header.cells.length < 2) return null;
    const below = best.sheet.head.filter(({ row }) => row > best.header.row).map(({ cells }) => cells);
    const sheet = visible.length > 1 ? { sheet: shorten(best.sheet.name, 200) } : {};
    return { description: DESCRIPTION, ...sheet, ...tableOf({ ...best, below }) };
  } finally {
    workbook.close();
  }
}

function tableOf(found: {
  readonly header: { readonly cells: readonly string[] };
  readonly map: { readonly indexes: readonly number[] };
  readonly below: readonly (readonly string[])[];
}) {
  const { header, map, below } = found;
  const free = header.cells.filter((_, at) => !map.indexes.includes(at)).map((cell) => cell.trim());
  return {
    columns: columnsOf(header.cells, map.indexes, free),
    ...taxCodesOf(below.map((cells) => cells[map.indexes[COLUMNS.indexOf('tax_code')] ?? -1] ?? '')),
  };
}

function columnsOf(
  header: readonly string[],
  indexes: readonly number[],
  free: readonly string[],
): Partial<Record<Column, string>> {
  const choices = free
    .filter((name) => name !== '')
    .slice(0, MOST_SHOWN)
    .map((name) => shorten(name, 40));
  return Object.fromEntries(
    COLUMNS.flatMap((column, at): [Column, string][] => {
      const name = header[indexes[at] ?? -1]?.trim();
      if (name !== undefined) return [[column, shorten(name, 200)]];
      return REQUIRED_COLUMNS.includes(column) ? [[column, `${UNDECIDED} ${choices.join(' | ')}`.slice(0, 200)]] : [];
    }),
  );
}

/** A mark only where the first rows prove it for both columns: a profile decides for every file that comes. */
function decimalOf(found: {
  readonly map: { readonly indexes: readonly number[] };
  readonly below: readonly (readonly string[])[];
}) {
  const marks = (['quantity', 'unit_price'] as const).map((column) => {
    const at = found.map.indexes[COLUMNS.indexOf(column)] ?? -1;
    const evidence = new DecimalEvidence(column);
    found.below.forEach((cells, row) => evidence.observe(row, cells[at] ?? ''));
    try {
      return evidence.decide();
    } catch {
      return null;
    }
  });
  const proved = new Set(marks.flatMap((proof) => (proof?.how === 'proved' ? [proof.mark] : [])));
  const open = marks.includes(null);
  return proved.size === 1 && !open ? { decimal: [...proved][0] } : {};
}

function taxCodesOf(cells: readonly string[]): { taxCodes?: Record<string, string> } {
  const words = [...new Set(cells.map((cell) => cell.trim()))].filter((word) => word !== '' && !KNOWN_CODE.test(word));
  if (words.length === 0) return {};
  const codes = words
    .slice(0, MOST_TAX_WORDS)
    .map((word): [string, string] => [shorten(word, 200), proposedCode(RATE.exec(word)?.[1])]);
  return { taxCodes: Object.fromEntries(codes) };
}

function proposedCode(rate: string | undefined): string {
  return rate === undefined ? 'TO DO: the code of the service' : `IVA_${Number(rate)}`;
}
