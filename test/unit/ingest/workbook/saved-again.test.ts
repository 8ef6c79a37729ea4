import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ingested } from '../ingested.ts';

/** One workbook with a number format in each row, as SheetJS wrote it and as LibreOffice has saved it again. */
const FOLDER = fileURLToPath(new URL('../../../golden/workbooks/saved-again/', import.meta.url));
const WORKBOOKS = ['sheetjs.xlsx', 'libreoffice.xlsx', 'libreoffice.ods'];
/** A text has what the sheet shows, and neither the number behind it nor what is hidden. */
const SHOWN_OTHERWISE = ['F18', 'F19', 'H1'];

/** By reference: the price that is sent, or why none is. */
async function outcomes(name: string): Promise<Readonly<Record<string, string>>> {
  const { invoices } = await ingested(FOLDER + name);
  return Object.fromEntries(
    invoices.map((one) => {
      if (one.ok) return [one.invoice.ref, one.invoice.lines.map(({ unitPrice }) => unitPrice).join(' ')];
      return [
        one.ref,
        one.findings
          .filter(({ severity }) => severity === 'error')
          .map(({ code }) => code)
          .join(' '),
      ];
    }),
  );
}

function isAmount(outcome: string | undefined): boolean {
  return /^-?\d/u.test(outcome ?? '');
}

describe('a workbook that LibreOffice has saved again', () => {
  it('gives the same amounts and the same findings as XLSX and as ODS', async () => {
    const [first, ...again] = await Promise.all(WORKBOOKS.map(outcomes));

    expect(again).toEqual([first, first]);
    expect(Object.values(first ?? {}).filter(isAmount)).toHaveLength(13);
    expect(Object.keys(first ?? {})).toHaveLength(35);
  });

  it('gives the same amounts as CSV with cells as they are shown, or none', async () => {
    const [inWorkbook, inCsv] = await Promise.all(['sheetjs.xlsx', 'libreoffice.csv'].map(outcomes));
    const differs = Object.entries(inWorkbook ?? {}).filter(([ref, outcome]) =>
      isAmount(outcome) || isAmount(inCsv?.[ref]) ? outcome !== inCsv?.[ref] : false,
    );

    expect(differs.map(([ref]) => ref)).toEqual(SHOWN_OTHERWISE);
    // What a text shows otherwise, no workbook sends.
    expect(differs.filter(([, outcome]) => isAmount(outcome))).toEqual([]);
  });
});
