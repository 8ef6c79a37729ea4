import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openWorkbook } from '../../../src/ingest/workbook/open-workbook.ts';

/** A cell of a workbook as Lote reads it: a kind, the text, and whether it is a formula. */
export type ReadCell = readonly [kind: string, text: string, formula: boolean] | null;

/** The first sheet of an XLSX file, row by row. */
export async function readWorkbookRows(bytes: Uint8Array): Promise<readonly (readonly ReadCell[])[]> {
  const place = await mkdtemp(join(tmpdir(), 'lote-workbook-'));
  try {
    const file = join(place, 'table.xlsx');
    await writeFile(file, bytes);
    const workbook = await openWorkbook(file);
    const rows: (readonly ReadCell[])[] = [];
    const [sheet] = workbook.sheets;
    if (sheet !== undefined)
      for await (const portion of workbook.rows(sheet).portions)
        for (const { cells } of portion)
          rows.push(cells.map((cell) => (cell === undefined ? null : [cell.kind, cell.text, cell.formula])));
    workbook.close();
    return rows;
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}
