import { type CorrectionsPlan, MOST_IN_A_WORKBOOK } from '../corrections-plan.ts';
import type { OriginalSheet } from '../original-file.ts';

/** What Excel can hold, less those of Lote. */
const MOST_COLUMNS = 16_000;
/** What Excel takes for the name of a sheet. */
const SHEET_NAME = /^(?!')[^\p{Cc}\\/?*[\]:]{1,31}(?<!')$/u;

/** No workbook can hold these corrections, or nobody could work with it: they are written as CSV. Its message says why. */
export class UnfitForWorkbook extends Error {}

/** The marks of corrections that a workbook can hold. @throws UnfitForWorkbook */
export function fitMarks(
  { name, header }: Pick<OriginalSheet, 'name' | 'header'>,
  { marks }: CorrectionsPlan,
): NonNullable<CorrectionsPlan['marks']> {
  const most = MOST_IN_A_WORKBOOK.toLocaleString('en');
  if (marks === null)
    throw new UnfitForWorkbook(`it would have more than ${most} rows, or more than ${most} wrong cells`);
  if (header.length > MOST_COLUMNS)
    throw new UnfitForWorkbook(`it would have more than ${MOST_COLUMNS.toLocaleString('en')} columns`);
  // A mapping profile may choose the sheet by its name.
  if (!SHEET_NAME.test(name)) throw new UnfitForWorkbook('Excel cannot have a sheet of that name');
  return marks;
}
