import { REQUIRED_COLUMNS } from '../../domain/row.ts';
import { CsvReader, type CsvRecord } from './csv-reader.ts';
import type { IngestOptions } from '../ingest-result.ts';
import {
  CONFIRM_COMMAND,
  findHeader,
  HEADER_WITHIN,
  compareHeaders,
  isNoHeader,
  requireWholeHeader,
  shownCells,
  type HeaderMap,
  type TableHeader,
} from '../profile/map-header.ts';
import { Refusal } from '../findings.ts';

/** The delimiter and header of a CSV file, and how Lote found them. */
export interface DialectDecision {
  readonly delimiter: string;
  readonly how: 'declared' | 'sep-line' | 'proved';
  readonly lineEnd: string;
  readonly header: CsvRecord;
  readonly map: HeaderMap;
}

const DELIMITERS = [',', ';', '\t', '|'] as const;
/** The first slice holds most headers; each further one ends at twice the previous offset. */
const FIRST_SLICE = 4 * 1024;
const LINE_END_WITHIN = 64 * 1024;

/** Lote most often misses a header because it split the line at the wrong delimiter. */
const ADVICE = `Add a header line; if it is there, correct the delimiter (--delimiter, the profile, or the line "sep="), or say what its columns mean: ${CONFIRM_COMMAND}`;

interface Candidate extends TableHeader {
  readonly delimiter: string;
}

/** Chooses the only delimiter with which one of the first records names every required column. @throws Refusal */
export async function decideDialect(head: Uint8Array, options: IngestOptions): Promise<DialectDecision> {
  const text = Buffer.from(head.subarray(0, LINE_END_WITHIN)).toString('utf8');
  const sep = /^sep=(.)\r?[\n\r]/i.exec(text)?.[1];
  const fixed = options.delimiter ?? sep;
  const tried = await candidates(head, fixed === undefined ? options : { ...options, delimiter: fixed });
  const how = options.delimiter !== undefined ? 'declared' : sep !== undefined ? 'sep-line' : 'proved';
  return { ...choose(tried, options), how, lineEnd: /\r\n|\n|\r/.exec(text)?.[0] ?? '\n' };
}

/** Returns the most likely header and at most `mostRecords` records, from which a person starts a profile. */
export async function likeliestHeader(
  head: Uint8Array,
  options: IngestOptions,
  mostRecords: number,
): Promise<(Candidate & { readonly below: readonly (readonly string[])[] }) | null> {
  const [best] = await candidates(head, options);
  if (best === undefined || best.header.cells.length < 2) return null;
  const records = await firstRecords(head, best.delimiter, mostRecords);
  return { ...best, below: records.filter(({ row }) => row > best.header.row).map(({ cells }) => cells) };
}

function delimitersOf({ delimiter, likelyDelimiter }: IngestOptions): readonly string[] {
  if (delimiter !== undefined) return [delimiter];
  return [...new Set([...DELIMITERS, ...(likelyDelimiter === undefined ? [] : [likelyDelimiter])])];
}

async function candidates(head: Uint8Array, options: IngestOptions): Promise<readonly Candidate[]> {
  const tried = delimitersOf(options).map(async (delimiter) => {
    const found = findHeader(await firstRecords(head, delimiter), options);
    return found === null ? [] : [{ delimiter, ...found }];
  });
  return (await Promise.all(tried))
    .flat()
    .toSorted((a, b) => compareHeaders(a, b) || b.header.cells.length - a.header.cells.length);
}

async function firstRecords(head: Uint8Array, delimiter: string, most = HEADER_WITHIN): Promise<readonly CsvRecord[]> {
  const reader = new CsvReader(delimiter);
  const records: CsvRecord[] = [];
  try {
    for (let at = 0, end = FIRST_SLICE; at < head.length && records.length < most; at = end, end *= 2)
      records.push(...withText(await reader.write(head.subarray(at, end))));
    if (records.length < most) records.push(...withText(await reader.end()));
  } catch (error) {
    // With a wrong delimiter, quotes look broken. If the delimiter is right, the reading itself reports the fault.
    if (!(error instanceof Refusal)) throw error;
    records.push(...withText(reader.salvage()));
  }
  return records.slice(0, most);
}

function withText(records: readonly CsvRecord[]): readonly CsvRecord[] {
  return records.filter((record) => record.cells.some((cell) => cell.trim() !== ''));
}

function choose(tried: readonly Candidate[], options: IngestOptions): Candidate {
  const complete = tried.filter(({ map }) => map.missing.length === 0);
  const [best, rival] = complete.length > 0 ? complete : tried;
  if (best === undefined || isNoHeader(best)) {
    const message = `Expected a header that names the columns ${REQUIRED_COLUMNS.join(', ')} in the first ${HEADER_WITHIN} records, found ${foundInstead(best)}. ${ADVICE}`;
    throw new Refusal('header-missing', message);
  }
  if (complete.length > 1 && rival !== undefined) {
    const message = `The header can be read with ${named(best.delimiter)} and with ${named(rival.delimiter)} as delimiter. Declare one with --delimiter`;
    throw new Refusal('delimiter-ambiguous', message);
  }
  const { header, delimiter } = best;
  const where = `Header in row ${header.row}, read with ${named(delimiter)} as delimiter`;
  requireWholeHeader(best, where, options);
  return best;
}

/** Shows the words in place of a header, because they reveal a wrong delimiter or a table without a header. */
function foundInstead(best: Candidate | undefined): string {
  if (best === undefined) return 'nothing but white space';
  return `none. The most likely one, read with ${named(best.delimiter)} as delimiter, is ${shownCells(best.header.cells)}`;
}

function named(delimiter: string): string {
  return delimiter === '\t' ? 'TAB' : `"${delimiter}"`;
}
