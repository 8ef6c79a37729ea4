import { z } from 'zod';
import type { Finding } from '../../domain/invoice.ts';
import { ORIGINAL, READ_AS, parseReadAs, type ReadAs } from '../../domain/read-as.ts';
import type { Column } from '../../domain/row.ts';
import { isSpreadsheetChange, mayChange } from './spreadsheet-change.ts';
import { Refusal, rowError, shorten } from '../findings.ts';
import { NUMBER_COLUMNS, type NumberColumn, type ReadColumn } from '../ingest-result.ts';
import { shownCell } from '../invoice/cell-findings.ts';
import { damagedReference, isDamagedTaxId, nifProblem, normalNif } from '../invoice/identity.ts';
import { readNumber, readTypedNumber, type DecimalMark } from '../invoice/read-number.ts';
import { CUT_CELL } from './row-width.ts';

/** Code of a row with another number of cells than the header. */
export const WRONG_WIDTH = 'cell-count';

/** Original cells by header. A number has the decimal that Lote read, because its mark may change, too. */
const OriginalCells = z.record(z.string(), z.union([z.string(), z.tuple([z.string(), z.string()])]));
/** Faults of a row that its cells do not show: a code, and the header of the cell, or '' for the whole row. */
const RowMarks = z.array(z.tuple([z.enum([WRONG_WIDTH, CUT_CELL]), z.string()])).readonly();
const Original = z.union([
  OriginalCells.transform((cells) => ({ cells, marks: [] })),
  z.tuple([OriginalCells, RowMarks]).transform(([cells, marks]) => ({ cells, marks })),
]);

type OriginalCell = z.infer<typeof OriginalCells>[string];
/** Faults of a row that its cells do not show. */
export type RowMarks = z.infer<typeof RowMarks>;

type Original = z.infer<typeof Original>;

/** Reads what `originalAsText` wrote; null if a person or a later version of Lote wrote the text. */
function readOriginal(text: string): Original | null {
  if (text.trim() === '') return { cells: {}, marks: [] };
  try {
    return Original.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

/** Returns the text for a cell of `lote_original`, or '' if there is nothing to record. */
export function originalAsText({ cells, marks }: Original): string {
  if (marks.length > 0) return JSON.stringify([cells, marks]);
  return Object.keys(cells).length === 0 ? '' : JSON.stringify(cells);
}

/** Returns the cells of a row that some spreadsheet may change. `mark` is null if the file was not read as rows. */
export function originalCells(
  cells: readonly string[],
  columns: readonly ReadColumn[],
  mark: DecimalMark | null,
): Original['cells'] {
  const entries = columns.flatMap(({ at, header, column }): [string, OriginalCell][] => {
    const text = cells[at]?.trim() ?? '';
    if (!mayChange(text) || isDamaged(column, text)) return [];
    if (!isNumberColumn(column)) return [[header, text]];
    const value = mark === null ? undefined : readNumber(text, mark)?.value;
    return value === undefined ? [] : [[header, [text, value]]];
  });
  return Object.fromEntries(entries);
}

interface KeptNumber {
  readonly column: NumberColumn;
  readonly cell: string;
  readonly value: string;
}

interface ComparedRow {
  readonly cells: readonly string[];
  readonly errors: readonly Finding[];
  readonly kept: readonly KeptNumber[];
  /** Faults of the row that still apply. Null if `lote_original` is unreadable. */
  readonly marks: RowMarks | null;
}

/** Compares a row with its cell of `lote_original`. */
export function beforeSpreadsheet(
  { row, cells }: { readonly row: number; readonly cells: readonly string[] },
  read: readonly ReadColumn[],
  original: string,
): ComparedRow {
  const said = readOriginal(original);
  if (said === null) {
    const message = `expected what Lote wrote there, or an empty cell. Copy it from the corrections file again, or empty it after you have compared the row with the dropped file`;
    return { cells, errors: [rowError(row, ORIGINAL, 'corrections-damaged', message)], kept: [], marks: null };
  }
  const restored = [...cells];
  const errors: Finding[] = [];
  const kept: KeptNumber[] = [];
  for (const { at, header, column } of read) {
    const now = cells[at] ?? '';
    const before = Object.hasOwn(said.cells, header) ? said.cells[header] : undefined;
    if (before === undefined) continue;
    if (isNumberColumn(column) && typeof before !== 'string' && before[0] === now.trim())
      kept.push({ column, cell: now, value: before[1] });
    const was = changedCell(before, now, column);
    if (was === null) continue;
    restored[at] = was;
    errors.push(changed(row, header, { was, now: readTypedNumber(now.trim()) ?? now }));
  }
  const cut = said.marks.filter(([code]) => code === CUT_CELL).map(([, header]) => wasCut(row, header));
  return { cells: restored, errors: [...errors, ...cut], kept, marks: said.marks };
}

/** Returns the original cell if a spreadsheet changed its value, and null if a person did or it is the same. */
function changedCell(original: OriginalCell, now: string, column: Column): string | null {
  const [was, value] = typeof original === 'string' ? [original, null] : original;
  const typed = readTypedNumber(now.trim());
  if (!isSpreadsheetChange(was, typed ?? now)) return null;
  if (column === 'merchant_nif' && normalNif(now) === normalNif(was)) return null;
  if (value === null) return was;
  const marks = typed === null ? (['.', ','] as const) : (['.'] as const);
  const values = marks.flatMap((mark) => readNumber(typed ?? now, mark)?.value ?? []);
  return values.every((one) => one === value) ? null : was;
}

function changed(row: number, label: string, { was, now }: { readonly was: string; readonly now: string }): Finding {
  const [before, found] = [shownCell(was), shownCell(now.trim())];
  const message = `found ${found} where the file had ${before}; a spreadsheet changes such a cell by itself. Write ${before} again and keep it, as a text editor does, or empty ${ORIGINAL} in this row if ${found} is meant`;
  return rowError(row, label, 'cell-changed', message);
}

function wasCut(row: number, header: string): Finding {
  const message = `the dropped file ended in this cell without a line end, so that the value may have lost its last digits (${ORIGINAL}). Write it as it is meant to be sent, and empty ${ORIGINAL} in this row`;
  return rowError(row, header, CUT_CELL, message);
}

/** A person must rewrite these cells, most often in the very form that a spreadsheet changed. */
function isDamaged(column: Column, text: string): boolean {
  if (column === 'invoice_ref') return damagedReference(text) !== null;
  if (column === 'customer_tax_id') return isDamagedTaxId(text);
  return column === 'merchant_nif' && nifProblem(text) !== null;
}

function isNumberColumn(column: Column): column is NumberColumn {
  return NUMBER_COLUMNS.some((name) => name === column);
}

/** How the file was read, as its corrections state it in each row; all rows must hold the same text. */
export class StatedReading {
  #text: string | null = null;

  get readAs(): ReadAs {
    return parseReadAs(this.#text ?? '');
  }

  /** @throws Refusal `corrections-mixed` */
  note(row: number, text: string): void {
    this.#text ??= text;
    if (text === this.#text) return;
    const message = `Row ${row}: expected ${READ_AS} "${shorten(this.#text, 80)}" as above, found "${shorten(text, 80)}". These rows come from files that are read in different ways: drop each corrections file alone`;
    throw new Refusal('corrections-mixed', message, { row });
  }
}
