import { afterAll, describe, expect, it } from 'vitest';
import { csvRow, HEADER, ingestedText, removeTemporaryFiles } from '../ingested.ts';

afterAll(removeTemporaryFiles);

const whole = csvRow();
async function errorsOf(text: string) {
  const { result } = await ingestedText(text);
  return { ok: result.ok, errors: result.findings.filter(({ severity }) => severity === 'error') };
}

describe('a file that ends in the middle of a row', () => {
  it.each([
    ['behind the delimiter before the last column', csvRow({ ref: 'F2', tax: '' })],
    ['two columns before it', csvRow({ ref: 'F2' }).split(',').slice(0, 6).join(',')],
  ])('is refused where rows end with a delimiter, and it ends %s', async (_name, last) => {
    const read = await errorsOf(`${HEADER},\n${whole},\n${last}`);

    expect(read).toMatchObject({ ok: false, errors: [{ code: 'truncated', row: 3 }] });
  });

  it('is refused where nothing but delimiters has come of it', async () => {
    const read = await errorsOf(`Notas,${HEADER}\n,${whole}\n,`);

    expect(read).toMatchObject({ ok: false, errors: [{ code: 'truncated', row: 3 }] });
  });
});

describe('a file whose last line has no end', () => {
  it('is read but for the invoice of that row, whose tax code may be cut', async () => {
    const { result, invoices } = await ingestedText(`${HEADER},\n${whole},\n${csvRow({ ref: 'F2' })}`);

    expect(result).toMatchObject({ ok: true, findings: [] });
    expect(invoices).toMatchObject([{ ok: true }, { ok: false, findings: [{ code: 'line-end-missing', row: 3 }] }]);
  });

  it('is read whole where its last cell is a text, or stands in quotes', async () => {
    const withText = `${HEADER.replace(',description', '')},description\n${csvRow().replace(',Pão', '')},Pã`;
    const inQuotes = `${HEADER}\n${csvRow().replace('IVA_23', '"IVA_23"')}`;
    for (const text of [withText, inQuotes]) {
      const { result, invoices } = await ingestedText(text);
      expect(result).toMatchObject({ ok: true, findings: [{ code: 'line-end-missing', severity: 'info' }] });
      expect(invoices).toMatchObject([{ ok: true }]);
    }
  });

  it('is read where that line is blank, also below a row that lacks a cell', async () => {
    const { result, invoices } = await ingestedText(`${HEADER}\n${whole}\n${csvRow({ ref: 'F2' }).slice(0, -7)}\n  `);

    expect(result).toMatchObject({ ok: true });
    expect(invoices).toMatchObject([{ ok: true }, { ok: false, findings: [{ code: 'cell-count', row: 3 }] }]);
  });
});
