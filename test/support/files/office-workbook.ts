import { read, utils, write, type WorkBook } from '@e965/xlsx';

/** A cell of a table that a person types into a spreadsheet. */
type Typed = string | number;

/** Makes a workbook with SheetJS: numbers stay numbers, texts stay texts. */
export function officeWorkbook(table: readonly (readonly Typed[])[], sheet = 'Faturas'): Buffer {
  const workbook = utils.book_new();
  utils.book_append_sheet(workbook, utils.aoa_to_sheet(table.map((row) => [...row])), sheet);
  return bytesOf(workbook);
}

/** Opens a workbook with its notes and fills, with a program that is not Lote's. */
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

/** Opens a workbook, unhides the rows of its first sheet, splits merged cells, and saves it as XLSX or ODS. */
export function shownInOffice(bytes: Uint8Array, form: 'xlsx' | 'ods' = 'xlsx'): Buffer {
  const workbook = openOffice(bytes);
  const sheet = workbook.Sheets[workbook.SheetNames[0] ?? ''];
  if (sheet === undefined) throw new Error('The workbook has no sheet');
  for (const row of sheet['!rows'] ?? []) if (row !== undefined) row.hidden = false;
  delete sheet['!merges'];
  return bytesOf(workbook, form);
}

/**
 * Opens a workbook, or a CSV file with `;`, and saves its first sheet as CSV with `;`: numbers as displayed, and texts
 * that look like numbers as numbers.
 */
export function savedAsCsv(bytes: Uint8Array): string {
  const workbook = read(bytes, { cellNF: true, FS: ';' });
  const sheet = workbook.Sheets[workbook.SheetNames[0] ?? ''];
  if (sheet === undefined) throw new Error('The workbook has no sheet');
  return `${utils.sheet_to_csv(sheet, { FS: ';' })}\n`;
}

/** Makes a workbook whose column at this index, from 0, has this number format. */
export function formattedWorkbook(table: readonly (readonly Typed[])[], column: number, format: string): Buffer {
  const workbook = utils.book_new();
  const sheet = utils.aoa_to_sheet(table.map((row) => [...row]));
  for (let row = 1; row < table.length; row += 1) {
    const cell = sheet[utils.encode_cell({ r: row, c: column })] as { z?: string };
    cell.z = format;
  }
  utils.book_append_sheet(workbook, sheet, 'Faturas');
  return bytesOf(workbook);
}

/** Opens a CSV file with `;`, gives all cells of the sheet this number format, and saves it as a workbook of texts. */
export function csvAsWorkbook(csv: string, format: string): Buffer {
  const workbook = read(csv, { type: 'string', raw: true, FS: ';' });
  const sheet = workbook.Sheets[workbook.SheetNames[0] ?? ''] ?? {};
  for (const [name, cell] of Object.entries(sheet)) if (!name.startsWith('!')) (cell as { z?: string }).z = format;
  return bytesOf(workbook);
}

function bytesOf(workbook: WorkBook, form: 'xlsx' | 'ods' = 'xlsx'): Buffer {
  return write(workbook, { type: 'buffer', bookType: form }) as Buffer;
}
