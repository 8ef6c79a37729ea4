import { utils, type CellObject } from '@e965/xlsx';
import { strFromU8, unzipSync } from 'fflate';
import { describe, expect, it, vi } from 'vitest';
import type { Finding } from '../../../../../src/domain/invoice.ts';
import type { Column } from '../../../../../src/domain/row.ts';
import { MOST_IN_A_WORKBOOK, planCorrections } from '../../../../../src/report/corrections/corrections-plan.ts';
import type { OriginalCell, OriginalSheet } from '../../../../../src/report/corrections/original-file.ts';
import { UnfitForWorkbook } from '../../../../../src/report/corrections/package-parts.ts';
import { xlsxCorrections } from '../../../../../src/report/corrections/xlsx-corrections.ts';
import { openOffice } from '../../../../support/files/office-workbook.ts';
import { each, finding, portionsOf, unsentInvoice } from '../../batch-invoices.ts';
import type { BatchInvoice } from '../../../../../src/domain/records/batch-record.ts';

const NO = { code: 'no', message: 'No.' };
const HEADER = ['Fatura', 'Data', 'Descrição', 'Preço'];
const COLUMNS: readonly (readonly [string, number, Column])[] = [
  ['Fatura', 0, 'invoice_ref'],
  ['Descrição', 2, 'description'],
  ['Preço', 3, 'unit_price'],
];

const text = (value: string): OriginalCell => ({ kind: 'text', text: value, format: '@' });
const number = (value: string, format: string | number = '0.00'): OriginalCell => ({
  ...{ kind: 'number', text: value, format },
});

type OriginalRow = OriginalSheet['rows'] extends AsyncIterable<infer Row> ? Row : never;
const row = (at: number, cells: OriginalRow['cells'], hidden = false): OriginalRow => ({ row: at, hidden, cells });
const ROWS = [
  row(2, [text('007'), text('2026-11-23'), text('=cmd()'), number('12.5')]),
  row(3, [text('008'), undefined, text("'=x"), number('1.2345678901234567890')]),
  row(4, [text('009'), text('TRUE'), text('_x0041_\n<&"> 😀')], true),
];

function sheet(given: Partial<OriginalSheet> = {}): OriginalSheet {
  return {
    kind: 'sheet',
    name: 'Faturas',
    header: HEADER,
    readAs: 'form=workbook',
    columns: new Map(COLUMNS.map(([label, position, column]) => [label, { position, column }])),
    rows: each(ROWS),
    merged: () => [],
    ...given,
  };
}

const INVALID = unsentInvoice({
  rows: [2, 3],
  state: 'invalid',
  findings: [finding(3, 'Preço', 'spreadsheet-error', 'Row 3, Preço: expected a value, found the error #REF!')],
});

async function written(
  invoices: readonly BatchInvoice[],
  original = sheet(),
  findings: readonly Finding[] = [],
): Promise<Buffer> {
  const plan = await planCorrections(portionsOf(invoices), findings);
  const pieces: Uint8Array[] = [];
  for await (const piece of xlsxCorrections(original, plan)) pieces.push(piece);
  return Buffer.concat(pieces);
}

type SeenCell = Omit<CellObject, 's'> & { readonly s?: { readonly patternType?: string } };

/** The cells of the first sheet as another program reads them, by name. */
function cellsOf(bytes: Uint8Array): Readonly<Record<string, SeenCell>> {
  const workbook = openOffice(bytes);
  return workbook.Sheets[workbook.SheetNames[0] ?? ''] as never;
}

/** Names of the cells that are marked by a fill. */
function markedOf(bytes: Uint8Array): readonly string[] {
  return Object.entries(cellsOf(bytes)).flatMap(([name, { s }]) => (s?.patternType === 'solid' ? [name] : []));
}

/** How a cell differs for who sees no colour. SheetJS reads neither. */
function withoutColour(bytes: Uint8Array, name: string): { readonly bold: boolean; readonly frame: boolean } {
  const parts = unzipSync(bytes);
  const text = (part: string): string => strFromU8(parts[part] ?? new Uint8Array(0));
  const styles = text('xl/styles.xml');
  const style = Number(new RegExp(`<c r="${name}" s="(\\d+)"`, 'u').exec(text('xl/worksheets/sheet1.xml'))?.[1]);
  const [list = ''] = /<cellXfs.*<\/cellXfs>/u.exec(styles) ?? [];
  const xf = [...list.matchAll(/<xf [^>]*>/gu)][style]?.[0] ?? '';
  const idOf = (kind: string): number => Number(new RegExp(`${kind}Id="(\\d+)"`, 'u').exec(xf)?.[1]);
  const font = [...styles.matchAll(/<font>.*?<\/font>/gu)][idOf('font')]?.[0] ?? '';
  const border = [...styles.matchAll(/<border>.*?<\/border>/gu)][idOf('border')]?.[0] ?? '';
  return { bold: font.includes('<b/>'), frame: border.includes('style="medium"') };
}

describe('a workbook of corrections', () => {
  it('has the columns of the sheet, the wrong rows, and what became of them at the end', async () => {
    const workbook = openOffice(await written([INVALID]));

    expect(workbook.SheetNames).toEqual(['Faturas']);
    const own: readonly unknown[] = ['invalid', expect.stringContaining('spreadsheet-error'), 'form=workbook'];
    expect(utils.sheet_to_json(workbook.Sheets['Faturas'] ?? {}, { header: 1, raw: false })).toEqual([
      [...HEADER, 'lote_state', 'lote_reason', 'lote_read_as'],
      ['007', expect.anything(), '=cmd()', '12.50', ...own],
      // SheetJS gives no value for an error.
      ['008', undefined, "''=x", undefined, ...own],
    ]);
  });

  it('keeps types and number formats: texts, also such as look like formulas or have zeros in front, and no number that Excel would change', async () => {
    const cells = cellsOf(await written([INVALID]));

    expect(cells['A2']).toMatchObject({ t: 's', v: '007', z: '@' });
    expect(cells['C2']).toMatchObject({ t: 's', v: '=cmd()' });
    expect(cells['C2']?.f).toBeUndefined();
    expect(cells['D2']).toMatchObject({ t: 'n', v: 12.5, z: '0.00' });
    expect(cells['D3']).toMatchObject({ t: 'e', w: '#VALUE!' });
  });

  it('marks the wrong cells alone, by fill, frame and bold type', async () => {
    const bytes = await written([INVALID]);

    expect(markedOf(bytes)).toEqual(['D3']);
    expect(withoutColour(bytes, 'D3')).toEqual({ bold: true, frame: true });
    expect(withoutColour(bytes, 'D2')).toEqual({ bold: false, frame: false });
  });

  it('marks the reference of an invoice that is wrong as a whole, and of a row that is in no invoice', async () => {
    const rejected = unsentInvoice({ rows: [2], state: 'rejected', reason: { code: 'no', message: 'No such tax.' } });
    const lost = finding(4, null, 'row-lost', 'Row 4: no tax number');

    const bytes = await written([rejected], sheet(), [lost]);

    expect(markedOf(bytes)).toEqual(['A2', 'A3']);
    expect(cellsOf(bytes)['C3']).toMatchObject({ t: 's', v: '_x0041_\n<&"> 😀' });
  });

  it('marks an empty cell, and keeps rows hidden, so that rows that were not seen are refused again', async () => {
    const missing = finding(4, 'Preço', 'price-missing', 'Row 4, Preço: expected a number, found none');

    const bytes = await written([unsentInvoice({ rows: [3, 4], state: 'invalid', findings: [missing] })]);

    expect(markedOf(bytes)).toEqual(['D3']);
    expect(openOffice(bytes).Sheets['Faturas']?.['!rows']?.[2]).toMatchObject({ hidden: true });
  });

  it('is the same bytes for the same rows a year later, so that a report that is written again keeps it', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 10, 23) });
    const first = await written([INVALID]);
    vi.setSystemTime(Date.UTC(2027, 10, 23));
    const second = await written([INVALID]);
    vi.useRealTimers();

    expect(second.equals(first)).toBe(true);
  });

  it('replaces the columns of a corrections workbook that came back and is still wrong', async () => {
    const original = sheet({
      header: ['lote_state', 'Descrição', ' lote_reason '],
      columns: new Map(),
      rows: each([row(2, [text('rejected'), text("'=x"), text('old')])]),
    });
    const invalid = unsentInvoice({ rows: [2], state: 'invalid', reason: NO });

    const workbook = openOffice(await written([invalid], original));

    expect(utils.sheet_to_json(workbook.Sheets['Faturas'] ?? {}, { header: 1 })).toEqual([
      ['Descrição', 'lote_state', 'lote_reason', 'lote_read_as'],
      ["'=x", 'invalid', 'no: No.', 'form=workbook'],
    ]);
  });

  it('ends with an error when a row that must go back is not in the file any more', async () => {
    const gone = unsentInvoice({ rows: [2, 99], state: 'invalid', reason: NO });

    await expect(written([gone])).rejects.toThrow(
      'each of the 2 rows to hand back must be in the original file, found 1',
    );
  });
});

describe('what no workbook can hold', () => {
  it.each([
    ['a sheet whose name Excel does not take', { name: 'a/b' }, 'of that name'],
    ['a sheet with a longer name', { name: 'x'.repeat(32) }, 'of that name'],
    ['a row with merged cells', { merged: () => [{ firstRow: 3, lastRow: 4 }] }, 'merged cells'],
    ['more columns than Excel has', { header: Array.from({ length: 16_001 }, () => 'x') }, '16,000 columns'],
    [
      'a text that is longer than Excel takes',
      { rows: [row(2, [text('x'.repeat(32_768))]), row(3, [])] },
      'characters',
    ],
  ])('is %s', async (_, given, reason) => {
    for (const expected of [UnfitForWorkbook, reason]) {
      const rows = each('rows' in given ? given.rows : ROWS);
      await expect(written([INVALID], sheet({ ...given, rows }))).rejects.toThrow(expected);
    }
  });

  it('are no merged cells of other rows', async () => {
    const merged = () => [1, 4].map((row) => ({ firstRow: row, lastRow: row }));
    await expect(written([INVALID], sheet({ merged }))).resolves.toBeInstanceOf(Buffer);
  });

  it('is more rows, or more wrong cells, than a person could work through', async () => {
    const rows = Array.from({ length: MOST_IN_A_WORKBOOK + 1 }, (_, at) => at + 2);
    const findings = rows.map((row) => finding(2, 'Preço', 'no', `Row ${row}`));
    const marksOf = async (invoice: Partial<BatchInvoice>) =>
      (await planCorrections(portionsOf([unsentInvoice({ reason: NO, ...invoice })]), [])).marks;

    expect(await marksOf({ rows, state: 'rejected' })).toBeNull();
    expect(await marksOf({ rows: [2], state: 'invalid', findings })).toBeNull();
    expect((await marksOf({ rows: rows.slice(1), state: 'rejected' }))?.size).toBe(1);
  });
});
