import type { CsvRecord } from '../csv/csv-reader.ts';
import { likeliestHeader } from '../csv/decide-dialect.ts';
import { decideEncoding, UndecodableAt } from '../encoding/decide-encoding.ts';
import { decodedHead } from '../encoding/decoded-head.ts';
import type { IngestOptions } from '../ingest-options.ts';
import { Refusal } from '../refusal.ts';
import { scanFile } from '../scan-file.ts';
import { sheetHeader } from '../workbook/choose-sheet.ts';
import { isArchive, openWorkbook } from '../workbook/open-workbook.ts';
import type { HeaderMap } from './map-header.ts';

/** How the text of a table was told apart from its bytes; null for a workbook. */
export interface TextDialect {
  readonly encoding: string;
  readonly delimiter: string;
}

/** The first rows of a file as a table, before anybody has said what its columns mean. */
export interface TableHead {
  readonly dialect: TextDialect | null;
  /** Names of the visible sheets of a workbook; empty for text. */
  readonly sheets: readonly string[];
  /** The sheet that is shown; null for text. */
  readonly sheet: string | null;
  /** The row that names most columns. */
  readonly header: CsvRecord;
  /** What its words mean to Lote without help. */
  readonly map: HeaderMap;
  /** Cells of the rows below it, among the first fifty of the file. */
  readonly below: readonly (readonly string[])[];
}

/** One cell beside the other: less is no table. */
const FEWEST_COLUMNS = 2;

/**
 * The head of a CSV file or of a workbook. Null for what is no table.
 * @throws LoteError `file-unreadable`
 */
export async function readTableHead(path: string, options: IngestOptions = {}): Promise<TableHead | null> {
  const scan = await scanFile(path);
  try {
    if (isArchive(scan.head)) return await workbookHead(path, options);
    const decided = decideEncoding(scan, options);
    const found = await likeliestHeader(await decodedHead(scan, decided), options);
    if (found === null) return null;
    const { delimiter, header, map, below } = found;
    return { dialect: { encoding: decided.encoding, delimiter }, sheets: [], sheet: null, header, map, below };
  } catch (error) {
    if (error instanceof Refusal || error instanceof UndecodableAt) return null;
    throw error;
  }
}

async function workbookHead(path: string, options: IngestOptions): Promise<TableHead | null> {
  const workbook = await openWorkbook(path);
  try {
    const visible = workbook.sheets.filter(({ hidden }) => !hidden);
    const asked = options.sheet === undefined ? visible : visible.filter(({ name }) => name === options.sheet);
    const [best] = asked
      .flatMap((sheet) => sheetHeader(sheet, options) ?? [])
      .sort((a, b) => b.map.found - a.map.found || b.header.cells.length - a.header.cells.length);
    if (best === undefined || best.header.cells.length < FEWEST_COLUMNS) return null;
    const { sheet, header, map } = best;
    const below = sheet.head.filter(({ row }) => row > header.row).map(({ cells }) => cells);
    return { dialect: null, sheets: visible.map(({ name }) => name), sheet: sheet.name, header, map, below };
  } finally {
    workbook.close();
  }
}
