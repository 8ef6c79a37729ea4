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
  it('is read where that row has its last cell', async () => {
    const { result, invoices } = await ingestedText(`${HEADER},\n${whole},\n${csvRow({ ref: 'F2' })}`);

    expect(result).toMatchObject({ ok: true, findings: [{ code: 'line-end-missing', row: 3 }] });
    expect(invoices).toMatchObject([{ ok: true }, { ok: true }]);
  });

  it('is read where that line is blank, also below a row that lacks a cell', async () => {
    const { result, invoices } = await ingestedText(`${HEADER}\n${whole}\n${csvRow({ ref: 'F2' }).slice(0, -7)}\n  `);

    expect(result).toMatchObject({ ok: true });
    expect(invoices).toMatchObject([{ ok: true }, { ok: false, findings: [{ code: 'cell-count', row: 3 }] }]);
  });
});
