import { REQUIRED_COLUMNS } from '../../domain/row.ts';
import type { CsvRecord } from '../csv/csv-reader.ts';
import type { IngestOptions } from '../ingest-options.ts';
import { shorten } from '../invoice/shorten.ts';
import { mapHeader } from '../profile/map-header.ts';
import type { HeaderMap } from '../profile/map-header.ts';
import { Refusal } from '../refusal.ts';
import { HEADER_WITHIN } from './limits.ts';
import type { Sheet, Workbook } from './workbook.ts';

/** The sheet that is read, its header, and why this one. */
export interface ChosenSheet {
  readonly sheet: Sheet;
  readonly how: 'declared' | 'only-one' | 'only-one-with-a-header';
  readonly header: CsvRecord;
  readonly map: HeaderMap;
}

interface Candidate {
  readonly sheet: Sheet;
  readonly header: CsvRecord;
  readonly map: HeaderMap;
}

const MOST_NAMED = 20;

/**
 * The sheet that an operator or a profile names, else the only visible one whose header names every required column. A hidden sheet is read
 * only when it is named.
 * @throws Refusal `sheet-missing`, `sheet-ambiguous`, `header-missing`, `column-missing`, `column-duplicate`, `corrections-damaged`
 */
export function chooseSheet(workbook: Workbook, options: IngestOptions): ChosenSheet {
  const named = options.sheet;
  const asked =
    named === undefined ? workbook.sheets.filter(({ hidden }) => !hidden) : [sheetNamed(workbook.sheets, named)];
  const candidates = asked.flatMap((sheet) => likeliestHeader(sheet, options) ?? []);
  const complete = candidates.filter(({ map }) => map.missing.length === 0);
  if (complete.length > 1)
    throw new Refusal(
      'sheet-ambiguous',
      `Expected one sheet with the header of an invoice file, found ${complete.length}: ${namesOf(complete.map(({ sheet }) => sheet))}. Name one with --sheet or in a profile, or hide the others`,
    );
  const best = complete[0] ?? candidates.toSorted((a, b) => b.map.found - a.map.found)[0];
  if (best === undefined || best.map.found < 2) throw headerMissing(workbook, asked, options);
  requireWholeHeader(best, options);
  const how = named !== undefined ? 'declared' : asked.length === 1 ? 'only-one' : 'only-one-with-a-header';
  return { ...best, how };
}

/** The header that names most columns, among the first rows of a sheet; null for an empty sheet. */
export function likeliestHeader(sheet: Sheet, options: IngestOptions): Candidate | null {
  let best: Candidate | null = null;
  for (const header of sheet.head) {
    const map = mapHeader(header.cells, options);
    if (best === null || map.found > best.map.found) best = { sheet, header, map };
    if (map.missing.length === 0) break;
  }
  return best;
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
    (sheet) => !asked.includes(sheet) && likeliestHeader(sheet, options)?.map.missing.length === 0,
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

function requireWholeHeader({ sheet, header, map }: Candidate, { reference }: IngestOptions): void {
  const where = `Header in row ${header.row} of the sheet "${shorten(sheet.name, 60)}"`;
  const [twice] = map.duplicates;
  if (twice !== undefined) {
    const words = twice.positions
      .slice(0, 5)
      .map((position) => `"${shorten(header.cells[position - 1]?.trim() ?? '', 40)}" (column ${position})`);
    throw new Refusal(
      'column-duplicate',
      `${where}: expected one column for ${twice.column}, found ${words.join(' and ')}. Remove or rename one, or name it in a profile`,
      { row: header.row, column: twice.column },
    );
  }
  if (map.missing.length > 0) {
    const parts = reference?.columns.filter((_, at) => map.referenceParts[at] === -1) ?? [];
    const advice =
      parts.length === 0
        ? 'Rename the columns, or name them in a profile'
        : `The profile builds the reference from ${parts.map((name) => `"${name}"`).join(' and ')}, which the sheet does not have: correct the profile`;
    throw new Refusal(
      'column-missing',
      `${where}: expected a column for each of ${REQUIRED_COLUMNS.join(', ')}, found none for ${map.missing.join(', ')}. ${advice}`,
      { row: header.row, column: map.missing[0] ?? '' },
    );
  }
  if (map.ownInPart)
    throw new Refusal(
      'corrections-damaged',
      `${where}: a corrections file has both columns lote_state and lote_reason, found one of them. Put the other one back (its cells may be empty)`,
      { row: header.row },
    );
}
