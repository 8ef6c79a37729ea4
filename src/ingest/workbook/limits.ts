import { Refusal } from '../findings.ts';

/** A workbook of a hundred sheets has a few hundred parts. */
export const MOST_PARTS = 10_000;
/** A sheet of a million full rows has about half a gigabyte of XML. */
export const MOST_BYTES_OF_A_PART = 4 * 1024 ** 3;
/** The XML of real sheets shrinks 8 to 40 times; DEFLATE reaches up to 1,000, but only for data without content. */
export const MOST_RATIO = 250;
/** Below this size a high ratio does no harm. */
export const RATIO_COUNTS_FROM = 32 * 1024 ** 2;
/** Lote keeps the different texts of a workbook in memory while it reads the rows. */
export const MOST_BYTES_OF_TEXTS = 128 * 1024 ** 2;
/** Most characters of XML without a tag: as long as the longest record of a CSV file. */
export const LONGEST_TOKEN = 1024 * 1024;
/** For the first rows of all sheets together; 200 full sheets of 30 columns have about four million. */
export const MOST_CHARACTERS_OF_HEADS = 8 * 1024 ** 2;
/** Most levels of nested elements; real parts have a dozen. */
export const DEEPEST = 64;
/** Most rows of a sheet in Excel and LibreOffice. */
export const MOST_ROWS = 1_048_576;
/** Most columns of an Excel sheet. */
export const MOST_COLUMNS = 16_384;
/** Lote reads the first rows of every sheet before it chooses one. */
export const MOST_SHEETS = 200;
/** Excel allows 65,490 styles in a workbook. */
export const MOST_STYLES = 100_000;
/** Excel allows 255 characters; Lote searches the format many times. */
export const LONGEST_FORMAT = 1000;
/** Lote keeps merged ranges until the end of the sheet. */
export const MOST_MERGED = 100_000;

/** Returns the refusal of a file larger than any workbook of invoices, or made to look small. */
export function tooLarge(what: string, most: number): Refusal {
  const message = `Expected a workbook with at most ${most.toLocaleString('en')} ${what}, found more. Nothing of it was read; split it, or save the sheet as CSV (UTF-8)`;
  return new Refusal('workbook-too-large', message);
}

/** Returns the refusal of a file that no spreadsheet program wrote. */
export function damaged(what: string): Refusal {
  const message = `Expected a whole workbook, but ${what}. Open it in a spreadsheet program, save it again and drop that file`;
  return new Refusal('workbook-damaged', message);
}
