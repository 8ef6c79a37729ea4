import { read, utils, write, type WorkBook } from '@e965/xlsx';

/** A cell of a table that somebody types into a spreadsheet. */
type Typed = string | number;

/** A workbook as SheetJS writes it: numbers are numbers, texts are texts. */
export function officeWorkbook(table: readonly (readonly Typed[])[], sheet = 'Faturas'): Buffer {
  const workbook = utils.book_new();
  utils.book_append_sheet(workbook, utils.aoa_to_sheet(table.map((row) => [...row])), sheet);
  return bytesOf(workbook);
}

/** Opens a workbook with its notes and fills, as a program that is not Lote's sees them. */
export function openOffice(bytes: Uint8Array): WorkBook {
  return read(bytes, { cellStyles: true, cellNF: true });
}

/** Opens a workbook, types a value into one cell of its first sheet, and saves it. */
export function correctedInOffice(bytes: Uint8Array, cell: string, value: Typed): Buffer {
  const workbook = openOffice(bytes);
  const sheet = workbook.Sheets[workbook.SheetNames[0] ?? ''];
  if (sheet === undefined) throw new Error('The workbook has no sheet');
  sheet[cell] = typeof value === 'number' ? { t: 'n', v: value } : { t: 's', v: value };
  return bytesOf(workbook);
}

function bytesOf(workbook: WorkBook): Buffer {
  return write(workbook, { type: 'buffer', bookType: 'xlsx' }) as Buffer;
}
