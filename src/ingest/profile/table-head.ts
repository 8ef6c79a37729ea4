import { FIELDS } from '../../domain/invoice.ts';
import { COLUMNS, type Column } from '../../domain/row.ts';
import type { CsvRecord } from '../csv/csv-reader.ts';
import { likeliestHeader } from '../csv/decide-dialect.ts';
import { decideEncoding, decodedHead } from '../encoding/decide-encoding.ts';
import type { IngestOptions } from '../ingest-result.ts';
import { jsonHead, type JsonHead } from '../json/json-members.ts';
import { isJson } from '../json/json-reader.ts';
import { compareHeaders, mapHeader, type HeaderMap } from './map-header.ts';
import { FaultAt, Refusal } from '../findings.ts';
import { scanFile, type FileScan } from '../encoding/scan-file.ts';
import { sheetHeader } from '../workbook/read-workbook.ts';
import { isArchive, withWorkbook } from '../workbook/open-workbook.ts';
import { shownCells, type SheetRows } from '../workbook/workbook.ts';

/** Words that Lote ignores in headers: `Código de IVA` equals `Código IVA`, and `Nome do cliente` equals `Nome cliente`. */
const PARTICLES: ReadonlySet<string> = new Set(['de', 'do', 'da', 'dos', 'das', 'del', 'of', 'the']);

/** A Map instead of an object, because headers may be hostile (`__proto__`, `constructor`). */
const LIKELY_COLUMNS: ReadonlyMap<string, Column> = new Map(
  COLUMNS.flatMap((column) =>
    [headerKey(column), ...FIELDS[column].headers.split(' ')].map((name): [string, Column] => [name, column]),
  ),
);

function headerKey(header: string): string {
  return header
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
}

/** Returns the column that a header seems to name; a person must confirm it. */
export function likelyColumn(header: string): Column | undefined {
  const words = header.split(/[^\p{L}\p{N}\p{M}]+/u).filter((word) => !PARTICLES.has(word.toLowerCase()));
  return LIKELY_COLUMNS.get(headerKey(header)) ?? LIKELY_COLUMNS.get(headerKey(words.join(' ')));
}

/** The first rows of a file as a table, before a person has given its columns a meaning. */
export interface TableHead {
  readonly format: 'csv' | 'xlsx' | 'ods' | 'json';
  /** How Lote reads the bytes as text; null for a workbook and for JSON. */
  readonly dialect: { readonly encoding: string; readonly delimiter: string } | null;
  /** Names of the visible sheets of a workbook; empty for text. */
  readonly sheets: readonly string[];
  readonly sheet: string | null;
  /** The row that names the most columns. */
  readonly header: CsvRecord;
  /** `likely` has the columns that the headers resemble, and `map` the columns that they name exactly. */
  readonly likely: HeaderMap;
  readonly map: HeaderMap;
  /** Cells of the rows below the header: all rows, or the first thousands of a large file. */
  readonly below: readonly (readonly string[])[];
}

/** These rows suffice for a person's review; for a text, the rows are in its first megabyte at most. */
const MOST_ROWS = 5_000;
const MOST_CHARACTERS = 4 * 1024 ** 2;
/** A table has at least two cells side by side. */
const FEWEST_COLUMNS = 2;

/**
 * Returns the head of a CSV file, a workbook, or a JSON file, or null if the file is no table. `mostRows` bounds the
 * rows below the header; `scan` is that of the file, if the caller has one.
 * @throws LoteError `file-unreadable`
 */
export async function readTableHead(
  path: string,
  options: IngestOptions = {},
  { mostRows = MOST_ROWS, scan: known }: { readonly mostRows?: number; readonly scan?: FileScan } = {},
): Promise<TableHead | null> {
  const scan = known ?? (await scanFile(path));
  try {
    if (isArchive(scan.head)) return await workbookHead(path, options, mostRows);
    const decided = decideEncoding(scan, options);
    const head = await decodedHead(scan, decided);
    if (isJson(head)) return membersAsTable(await jsonHead(path, scan, options));
    const found = await likeliestHeader(head, options, mostRows);
    if (found === null) return null;
    const { delimiter, header, map, below } = found;
    const likely = mapHeader(header.cells, options, likelyColumn);
    const dialect = { encoding: decided.encoding, delimiter };
    return { format: 'csv', dialect, sheets: [], sheet: null, header, likely, map, below };
  } catch (error) {
    if (error instanceof Refusal || error instanceof FaultAt) return null;
    throw error;
  }
}

/** Members that Lote reads have fixed columns, whatever their names resemble. */
function membersAsTable({ header, below, unknown }: JsonHead): TableHead {
  const indexes = COLUMNS.map((_, at) => at);
  const map = { ...mapHeader([...COLUMNS]), indexes, unknown };
  const cells = { header: { row: 1, cells: header }, below };
  return { format: 'json', dialect: null, sheets: [], sheet: null, likely: map, map, ...cells };
}

function workbookHead(path: string, options: IngestOptions, mostRows: number): Promise<TableHead | null> {
  return withWorkbook(path, async (workbook) => {
    const visible = workbook.sheets.filter(({ hidden }) => !hidden);
    const named = workbook.sheets.filter(({ name }) => name.toLowerCase() === options.sheet?.toLowerCase());
    const asked = options.sheet === undefined ? visible : named;
    const [best] = asked
      .flatMap((sheet) => sheetHeader(sheet, options) ?? [])
      .sort((a, b) => compareHeaders(a, b) || b.header.cells.length - a.header.cells.length);
    if (best === undefined || best.header.cells.length < FEWEST_COLUMNS) return null;
    const { sheet, header, map } = best;
    const likely = mapHeader(header.cells, options, likelyColumn);
    const below = await rowsBelow(workbook.rows(sheet), header.row, mostRows);
    const sheets = visible.map(({ name }) => name);
    return { format: workbook.format, dialect: null, sheets, sheet: sheet.name, header, likely, map, below };
  });
}

async function rowsBelow({ portions }: SheetRows, header: number, mostRows: number): Promise<TableHead['below']> {
  const below: (readonly string[])[] = [];
  let characters = 0;
  for await (const rows of portions)
    for (const row of rows) {
      if (below.length >= mostRows || characters > MOST_CHARACTERS) return below;
      if (row.row <= header) continue;
      const cells = shownCells(row);
      below.push(cells);
      for (const cell of cells) characters += cell.length + 1;
    }
  return below;
}
