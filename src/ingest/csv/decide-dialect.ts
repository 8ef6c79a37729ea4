import { REQUIRED_COLUMNS } from '../../domain/row.ts';
import { CsvReader } from './csv-reader.ts';
import type { CsvRecord } from './csv-reader.ts';
import type { TableHeader } from './table-header.ts';
import type { IngestOptions } from '../ingest-options.ts';
import { findHeader, HEADER_WITHIN, requireWholeHeader, shownCells } from '../profile/found-header.ts';
import type { HeaderMap } from '../profile/map-header.ts';
import { Refusal } from '../refusal.ts';

/** The delimiter and header of a CSV file, with why. */
export interface DialectDecision {
  readonly delimiter: string;
  readonly how: 'declared' | 'sep-line' | 'proved';
  readonly lineEnd: string;
  readonly header: CsvRecord;
  readonly map: HeaderMap;
}

const DELIMITERS = [',', ';', '\t', '|'] as const;
/** What the sample parsers are fed first: it holds most headers, and four parsers read it. Each further slice ends at twice the offset of the one before. */
const FIRST_SLICE = 4 * 1024;
/** Read as text, for `sep=` and the first line end. */
const LINE_END_WITHIN = 64 * 1024;

/** A header that nobody finds is most often one that was cut at the wrong sign. */
const ADVICE: Readonly<Record<DialectDecision['how'], string>> = {
  declared: 'Add a header line, or correct the declared delimiter (--delimiter, or in the profile)',
  'sep-line': 'Its first line says `sep=`: correct that sign, or declare the delimiter with --delimiter',
  proved: 'Add a header line, or name its columns in a profile',
};

interface Candidate extends TableHeader {
  readonly delimiter: string;
}

/**
 * Decides by the header: under the right delimiter, and under no other, one of the first records names every required column.
 * @throws Refusal `header-missing`, `column-missing`, `column-duplicate`, `column-overruled`, `corrections-damaged`, `delimiter-ambiguous`, and those of
 * the CSV reader
 */
export async function decideDialect(head: Uint8Array, options: IngestOptions): Promise<DialectDecision> {
  const text = Buffer.from(head.subarray(0, LINE_END_WITHIN)).toString('utf8');
  const sep = /^sep=(.)\r?[\n\r]/i.exec(text)?.[1];
  const likely = sep === undefined ? await likelyDelimiter(head, options) : undefined;
  const fixed = options.delimiter ?? sep ?? likely;
  const tried = await Promise.all(
    (fixed === undefined ? DELIMITERS : [fixed]).map((delimiter) => candidate(head, delimiter, options)),
  );
  const how = (options.delimiter ?? likely) !== undefined ? 'declared' : sep !== undefined ? 'sep-line' : 'proved';
  const best = choose(
    tried.filter((one) => one !== null),
    { options, how },
  );
  return { ...best, how, lineEnd: /\r\n|\n|\r/.exec(text)?.[0] ?? '\n' };
}

/** A spreadsheet saves corrections with a delimiter of its own. */
async function likelyDelimiter(head: Uint8Array, options: IngestOptions): Promise<string | undefined> {
  const { likelyDelimiter: likely } = options;
  if (likely === undefined) return undefined;
  const found = await candidate(head, likely, options);
  return found?.map.missing.length === 0 ? likely : undefined;
}

/** The header that names most columns, complete or not, with the records below it: what a person starts a profile from. */
export async function likeliestHeader(
  head: Uint8Array,
  options: IngestOptions,
): Promise<(Candidate & { readonly below: readonly (readonly string[])[] }) | null> {
  const tried = await Promise.all(
    (options.delimiter === undefined ? DELIMITERS : [options.delimiter]).map((delimiter) =>
      candidate(head, delimiter, options),
    ),
  );
  const [best] = tried
    .filter((one) => one !== null)
    .sort((a, b) => b.map.found - a.map.found || b.header.cells.length - a.header.cells.length);
  if (best === undefined || best.header.cells.length < 2) return null;
  const records = await firstRecords(head, best.delimiter);
  return { ...best, below: records.filter(({ row }) => row > best.header.row).map(({ cells }) => cells) };
}

async function candidate(head: Uint8Array, delimiter: string, options: IngestOptions): Promise<Candidate | null> {
  const found = findHeader(await firstRecords(head, delimiter), options);
  return found === null ? null : { delimiter, ...found };
}

async function firstRecords(head: Uint8Array, delimiter: string): Promise<readonly CsvRecord[]> {
  const reader = new CsvReader(delimiter);
  const records: CsvRecord[] = [];
  try {
    for (let at = 0, end = FIRST_SLICE; at < head.length && records.length < HEADER_WITHIN; at = end, end *= 2)
      records.push(...withText(await reader.write(head.subarray(at, end))));
    if (records.length < HEADER_WITHIN) records.push(...withText(await reader.end()));
  } catch (error) {
    // Under a wrong delimiter quotes look broken; the reading itself will say so when this one is right.
    if (!(error instanceof Refusal)) throw error;
    records.push(...withText(reader.salvage()));
  }
  return records.slice(0, HEADER_WITHIN);
}

function withText(records: readonly CsvRecord[]): readonly CsvRecord[] {
  return records.filter((record) => record.cells.some((cell) => cell.trim() !== ''));
}

function choose(
  candidates: readonly Candidate[],
  given: { readonly options: IngestOptions; readonly how: DialectDecision['how'] },
): Candidate {
  const complete = candidates.filter((one) => one.map.missing.length === 0);
  const [best, rival] = [...(complete.length > 0 ? complete : candidates)].sort(
    (a, b) => b.map.found - a.map.found || b.header.cells.length - a.header.cells.length,
  );
  if (best === undefined || best.map.found < 2) {
    throw new Refusal(
      'header-missing',
      `Expected a header that names the columns ${REQUIRED_COLUMNS.join(', ')} in the first ${HEADER_WITHIN} records, found ${foundInstead(best)}. ${ADVICE[given.how]}`,
    );
  }
  if (complete.length > 1 && rival !== undefined) {
    throw new Refusal(
      'delimiter-ambiguous',
      `The header can be read with ${named(best.delimiter)} and with ${named(rival.delimiter)} as delimiter. Declare one with --delimiter`,
    );
  }
  const { header, delimiter } = best;
  requireWholeHeader(
    best,
    {
      where: `Header in row ${header.row}`,
      readWith: `, read with ${named(delimiter)} as delimiter`,
      thing: 'file',
    },
    given.options,
  );
  return best;
}

/** The words that stand where a header would: they show a wrong delimiter, and a table without header, at once. */
function foundInstead(best: Candidate | undefined): string {
  if (best === undefined) return 'nothing but white space';
  return `none. The most likely one, read with ${named(best.delimiter)} as delimiter, is ${shownCells(best.header.cells)}`;
}

function named(delimiter: string): string {
  return delimiter === '\t' ? 'TAB' : `"${delimiter}"`;
}
