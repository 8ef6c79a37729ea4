import { REQUIRED_COLUMNS } from '../../domain/row.ts';
import type { CsvRecord } from '../csv/csv-reader.ts';
import type { TableHeader } from '../csv/table-header.ts';
import type { IngestOptions } from '../ingest-options.ts';
import { shorten } from '../invoice/shorten.ts';
import { findHeader, HEADER_WITHIN, requireWholeHeader } from '../profile/found-header.ts';
import type { HeaderMap } from '../profile/map-header.ts';
import { Refusal } from '../refusal.ts';
import type { Sheet, Workbook } from './workbook.ts';

/** The sheet that is read, its header, and why this one. */
export interface ChosenSheet {
  readonly sheet: Sheet;
  readonly how: 'declared' | 'only-one' | 'only-one-with-a-header';
  readonly header: CsvRecord;
  readonly map: HeaderMap;
}

interface Candidate extends TableHeader {
  readonly sheet: Sheet;
}

const MOST_NAMED = 20;

/**
 * The sheet that an operator or a profile names, else the only visible one whose header names every required column. A hidden sheet is read
 * only when it is named.
 * @throws Refusal `sheet-missing`, `sheet-ambiguous`, `header-missing`, `column-missing`, `column-duplicate`, `column-overruled`, `corrections-damaged`
 */
export function chooseSheet(workbook: Workbook, options: IngestOptions): ChosenSheet {
  const named = options.sheet;
  const asked =
    named === undefined ? workbook.sheets.filter(({ hidden }) => !hidden) : [sheetNamed(workbook.sheets, named)];
  const candidates = asked.flatMap((sheet) => sheetHeader(sheet, options) ?? []);
  const complete = candidates.filter(({ map }) => map.missing.length === 0);
  if (complete.length > 1)
    throw new Refusal(
      'sheet-ambiguous',
      `Expected one sheet with the header of an invoice file, found ${complete.length}: ${namesOf(complete.map(({ sheet }) => sheet))}. Name one with --sheet or in a profile, or hide the others`,
    );
  const best = complete[0] ?? candidates.toSorted((a, b) => b.map.found - a.map.found)[0];
  if (best === undefined || best.map.found < 2) throw headerMissing(workbook, asked, options);
  const where = `Header in row ${best.header.row} of the sheet "${shorten(best.sheet.name, 60)}"`;
  requireWholeHeader(best, { where, readWith: '', thing: 'sheet' }, options);
  const how = named !== undefined ? 'declared' : asked.length === 1 ? 'only-one' : 'only-one-with-a-header';
  return { ...best, how };
}

/** The header that names most columns, among the first rows of a sheet; null for an empty sheet. */
export function sheetHeader(sheet: Sheet, options: IngestOptions): Candidate | null {
  const found = findHeader(sheet.head, options);
  return found === null ? null : { sheet, ...found };
}

/** Names of sheets for a message. */
export function namesOf(sheets: readonly Sheet[]): string {
  const shown = sheets.slice(0, MOST_NAMED).map(({ name }) => `"${shorten(name, 60)}"`);
  return shown.join(', ') + (sheets.length > MOST_NAMED ? ` and ${sheets.length - MOST_NAMED} more` : '');
}

/** Excel does not tell names apart by their case. */
function sheetNamed(sheets: readonly Sheet[], name: string): Sheet {
  const found =
    sheets.find((sheet) => sheet.name === name) ??
    sheets.find((sheet) => sheet.name.toLowerCase() === name.toLowerCase());
  if (found !== undefined) return found;
  throw new Refusal(
    'sheet-missing',
    `Expected a sheet with the name "${shorten(name, 60)}", found ${namesOf(sheets)}. Correct --sheet, or the profile`,
  );
}

function headerMissing(workbook: Workbook, asked: readonly Sheet[], options: IngestOptions): Refusal {
  const hidden = workbook.sheets.filter(
    (sheet) => !asked.includes(sheet) && sheetHeader(sheet, options)?.map.missing.length === 0,
  );
  const advice =
    hidden.length === 0
      ? 'Add a header line, or name its columns in a profile'
      : `The hidden sheet ${namesOf(hidden)} has one: show it, or name it with --sheet`;
  return new Refusal(
    'header-missing',
    `Expected a header that names the columns ${REQUIRED_COLUMNS.join(', ')} in the first ${HEADER_WITHIN} rows of a visible sheet, found none in ${namesOf(asked) || 'any'}. ${advice}`,
  );
}
