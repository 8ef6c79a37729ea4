import { setImmediate as nextTurn } from 'node:timers/promises';
import { COLUMNS, REQUIRED_COLUMNS } from '../../domain/row.ts';
import { CsvRows } from '../csv/csv-rows.ts';
import { MOST_HEADERS_SHOWN, labelOf, reportHeader, tableDialect, tableProof } from '../csv/table-header.ts';
import { note, Refusal, rowError, type Damage, type FindingList, shorten } from '../findings.ts';
import type { Read, ReadingBasis } from '../reading.ts';
import { SheetRecords } from './sheet-records.ts';
import type { SheetRows, Workbook, Sheet } from './workbook.ts';
import type { IngestOptions } from '../ingest-result.ts';
import {
  type TableHeader,
  CONFIRM_COMMAND,
  findHeader,
  HEADER_WITHIN,
  compareHeaders,
  isNoHeader,
  requireWholeHeader,
} from '../profile/map-header.ts';

const DRAIN_EVERY = 1000;
const MOST_CHARACTERS_WAITING = 16 * 1024 ** 2;

/** Reads one sheet of an opened workbook into rows. @throws Refusal if it cannot determine the rows */
export async function readWorkbook(workbook: Workbook, reading: ReadingBasis, signal?: AbortSignal): Promise<Read> {
  const { findings, writer } = reading;
  const chosen = chooseSheet(workbook, reading.options);
  const proof = sheetProof(workbook, chosen);
  reading.noteProof(proof);
  reportHeader(findings, chosen.header, 1);
  const rows = new CsvRows(reading, chosen, null);
  const records = new SheetRecords({ chosen, recalculates: workbook.recalculates, findings });
  const sheet = workbook.rows(chosen.sheet, signal);
  let taken = 0;
  let characters = 0;
  for await (const portion of sheet.portions) {
    for (const row of portion) {
      const record = records.record(row);
      rows.take(record);
      taken += 1;
      for (const cell of record.cells) characters += cell.length;
      if (characters > MOST_CHARACTERS_WAITING) await writer.flush();
      else if (taken % DRAIN_EVERY === 0) await writer.drain();
      else continue;
      characters = 0;
      // A repeated row is a portion of up to a million rows: without a turn of the event loop, nothing could cancel it.
      await nextTurn();
      signal?.throwIfAborted();
    }
  }
  rows.end('line');
  const mergedCells = damageMerged(chosen, sheet.merged, rows.damage);
  const seen = reportSheet(workbook, chosen, sheet, { records, findings });
  await writer.flush();
  const decided = rows.decide(workbook.format);
  const known = { workbook: { ...proof.workbook, ...seen, mergedCells }, ...decided.proof };
  return { ...decided, dialect: dialectOf(workbook, chosen), proof: known };
}

function dialectOf({ format }: Workbook, chosen: ChosenSheet): Read['dialect'] {
  const sheet = { name: chosen.sheet.name };
  // Texts of a workbook are Unicode. Its corrections get a byte order mark, because Excel recognizes UTF-8 by it.
  const text = { encoding: 'utf-8', bom: true, delimiter: null, lineEnd: null };
  return { format, ...text, ...tableDialect(chosen), sheet };
}

function sheetProof(workbook: Workbook, chosen: ChosenSheet) {
  const names = (hidden: boolean): readonly string[] =>
    workbook.sheets
      .filter((sheet) => sheet !== chosen.sheet && sheet.hidden === hidden)
      .slice(0, MOST_HEADERS_SHOWN)
      .map(({ name }) => shorten(name, 80));
  return {
    workbook: {
      format: workbook.format,
      sheet: { name: shorten(chosen.sheet.name, 80), how: chosen.how, headerRow: chosen.header.row },
      notRead: names(false),
      hidden: names(true),
    },
    ...tableProof(chosen),
  };
}

/** Adds findings about the whole sheet, and returns facts for the proof. */
function reportSheet(
  workbook: Workbook,
  chosen: ChosenSheet,
  { hiddenColumns }: SheetRows,
  { records, findings }: { readonly records: SheetRecords; readonly findings: FindingList },
): Readonly<Record<string, unknown>> {
  const others = workbook.sheets.filter((sheet) => sheet !== chosen.sheet);
  if (others.length > 0) {
    const message = `Only the sheet "${shorten(chosen.sheet.name, 60)}" is read, not ${namesOf(others)}`;
    findings.add(note('info', 'sheets-not-read', message));
  }
  if (chosen.sheet.hidden) findings.add(note('warning', 'sheet-hidden', 'The sheet that was named is hidden'));
  const isHidden = (at: number): boolean => hiddenColumns.some(({ first, last }) => at >= first && at <= last);
  const hidden = chosen.header.cells
    .filter((_, at) => records.isRead(at) && isHidden(at))
    .map((cell) => `"${shorten(cell.trim(), 40)}"`);
  if (hidden.length > 0) {
    const message = `These columns are hidden and are read: ${hidden.join(', ')}`;
    findings.add(note('warning', 'columns-hidden', message));
  }
  const { count, first } = records.formulas;
  if (count > 0) {
    const message = `${count} cells hold formulas, the first one in ${first}; the values that were saved with them are taken`;
    findings.add(note('info', 'formulas', message));
  }
  return { formulas: count, hiddenColumns: hidden };
}

/** No rule tells which row or column the value of a merged cell is of. A row has one finding per column. */
function damageMerged({ header, map }: TableHeader, merged: SheetRows['merged'], damage: Damage): number {
  let count = 0;
  const nextRow = new Map<string, number>();
  for (const range of merged.toSorted((a, b) => a.firstRow - b.firstRow)) {
    if (range.lastRow <= header.row) continue;
    const isInside = (position = -1): boolean => position >= range.firstColumn && position <= range.lastColumn;
    const at = COLUMNS.findIndex((_, column) => isInside(map.indexes[column]));
    if (at < 0 && !map.referenceParts.some(isInside)) continue;
    count += 1;
    const label = labelOf({ header, map }, COLUMNS[at] ?? 'invoice_ref');
    const first = Math.max(range.firstRow, nextRow.get(label) ?? header.row + 1);
    nextRow.set(label, Math.max(first, range.lastRow + 1));
    for (let row = first; row <= range.lastRow; row += 1) {
      const message = `the cell is merged with others (rows ${range.firstRow} to ${range.lastRow}), and a value for several rows or columns proves nothing about each. Split the cells and fill in each of them`;
      damage.add(row, [rowError(row, label, 'cell-merged', message)]);
    }
  }
  return count;
}

interface Candidate extends TableHeader {
  readonly sheet: Sheet;
}

interface ChosenSheet extends Candidate {
  readonly how: 'declared' | 'only-one' | 'only-one-with-a-header';
}

const MOST_NAMED = 20;

/** Chooses the named sheet, else the only visible one with every required column. @throws Refusal */
function chooseSheet(workbook: Workbook, options: IngestOptions): ChosenSheet {
  const named = options.sheet;
  const asked =
    named === undefined ? workbook.sheets.filter(({ hidden }) => !hidden) : [sheetNamed(workbook.sheets, named)];
  const candidates = asked.flatMap((sheet) => sheetHeader(sheet, options) ?? []);
  const complete = candidates.filter(({ map }) => map.missing.length === 0);
  if (complete.length > 1) {
    const message = `Expected one sheet with the header of an invoice file, found ${complete.length}: ${namesOf(complete.map(({ sheet }) => sheet))}. Name one with --sheet or in a profile, or hide the others`;
    throw new Refusal('sheet-ambiguous', message);
  }
  const best = complete[0] ?? candidates.toSorted(compareHeaders)[0];
  if (best === undefined || isNoHeader(best)) {
    const message = `Expected a header that names the columns ${REQUIRED_COLUMNS.join(', ')} in the first ${HEADER_WITHIN} rows of a visible sheet, found none in ${namesOf(asked) || 'any'}. Show the sheet that has one, or name it with --sheet; if the header is there, say what its columns mean: ${CONFIRM_COMMAND}`;
    throw new Refusal('header-missing', message);
  }
  const where = `Header in row ${best.header.row} of the sheet "${shorten(best.sheet.name, 60)}"`;
  requireWholeHeader(best, where, options);
  const how = named !== undefined ? 'declared' : asked.length === 1 ? 'only-one' : 'only-one-with-a-header';
  return { ...best, how };
}

/** Returns the header that names most columns among the first rows of a sheet. Returns null for an empty sheet. */
export function sheetHeader(sheet: Sheet, options: IngestOptions): Candidate | null {
  const found = findHeader(sheet.head, options);
  return found === null ? null : { sheet, ...found };
}

function namesOf(sheets: readonly Sheet[]): string {
  const shown = sheets.slice(0, MOST_NAMED).map(({ name }) => `"${shorten(name, 60)}"`);
  return shown.join(', ') + (sheets.length > MOST_NAMED ? ` and ${sheets.length - MOST_NAMED} more` : '');
}

/** Excel does not distinguish names by case. */
function sheetNamed(sheets: readonly Sheet[], name: string): Sheet {
  const found =
    sheets.find((sheet) => sheet.name === name) ??
    sheets.find((sheet) => sheet.name.toLowerCase() === name.toLowerCase());
  if (found !== undefined) return found;
  const message = `Expected a sheet with the name "${shorten(name, 60)}", found ${namesOf(sheets)}. Correct --sheet, or the profile`;
  throw new Refusal('sheet-missing', message);
}
