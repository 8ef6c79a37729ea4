import { afterAll, describe, expect, it } from 'vitest';
import { csvRow, HEADER, ingestedText, removeTemporaryFiles, type Ingested } from '../ingested.ts';

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

const OPTIONS = { constants: { currency: 'EUR' } };
const TITLES = ['invoice_ref', 'merchant_nif', 'customer_name', 'description', 'quantity', 'unit_price', 'tax_code'];
const COMMAS = TITLES.join(',');
const ROW = 'A2,501964843,Ana,Cabo,1,10.00,IVA_23';

async function read(lines: readonly string[]): Promise<Ingested> {
  return await ingestedText(`${lines.join('\n')}\n`, OPTIONS);
}

function outcomes({ result, invoices }: Ingested): readonly (boolean | string)[] {
  return result.ok ? invoices.map(({ ok }) => ok) : result.findings.map(({ code }) => code);
}

/** Lines of text that people write below a name or a thing: a delimiter, a space, a number. */
const NUMBERS = [
  ['an article', 'Cafe, 5601234567890'],
  ['a telephone with the code of its country', 'Tel, 00351 912345678'],
  ['a telephone', 'Rui, 912345678'],
  ['a telephone whose last digit is that of a tax number', 'Tel, 912345675'],
  ['a telephone, and a town', 'Tel, 912345675, Lisboa'],
  ['a day', 'de, 20261101'],
  ['the tax number of the merchant', 'NIF, 501964843'],
  ['the tax number of the merchant behind an order', 'Pedido 12, 501964843'],
  ['an order and a telephone without spaces', 'Pedido 12,912345675'],
] as const;

describe('a text of several lines', () => {
  const titles = '"Ref.\nfatura";NIF emitente;Cliente;Descrição;Quantidade;Preço unitário;"Taxa\nIVA"';
  const address = '"Rua A 1\n1000-001 Lisboa, Portugal"';
  it.each([
    ['be the title of the first and of the last column', [titles, ROW.replaceAll(',', ';')]],
    [
      'stand twice in a row, with delimiters in the first',
      [
        'customer_name,Morada,merchant_nif,invoice_ref,description,quantity,unit_price,tax_code,Obs',
        `Ana,${address},501964843,A1,Cabo,1,10.00,IVA_23,"Entregar\nObrigado"`,
      ],
    ],
    ['stand in the first and in the last column', [`Notas,${COMMAS},Obs`, `"Entregar\nhoje",${ROW},"Muito\nobrigado"`]],
    ['stand above the header, with a comma behind it', ['Empresa:,"Acme Lda\nRua A, 12"', COMMAS, ROW]],
    ['stand above the header, with a day', ['"Acme, Lda\nLisboa",2026-11-27', COMMAS, ROW]],
    ['stand above the header, with a tax number', ['"Acme Lda\nNIF, 501964843"', COMMAS, ROW]],
  ])('may %s', async (_name, lines) => {
    expect(outcomes(await read(lines))).toEqual([true]);
  });

  it.each([
    [',', 'Cabo, 3m, preto, novo\nGarantia'],
    [';', 'Cabo; 3m; preto; novo\nGarantia'],
  ])('may stand where all lines end with many %j', async (delimiter, text) => {
    const end = delimiter.repeat(4);
    const cells = ['A1', '501964843', 'Ana', `"${text}"`, '1', '10.00', 'IVA_23'];

    const described = await read([TITLES.join(delimiter) + end, cells.join(delimiter) + end]);
    const address = ['A1', '501964843', `"${text}"`, 'Ana', 'Cabo', '1', '10.00', 'IVA_23'];
    const addressed = await read([
      TITLES.toSpliced(2, 0, 'Morada').join(delimiter) + end,
      address.join(delimiter) + end,
    ]);

    expect([outcomes(described), outcomes(addressed)]).toEqual([[true], [true]]);
  });

  it.each(NUMBERS)('may name %s', async (_name, line) => {
    for (const delimiter of [',', ';']) {
      const text = `"Cabo\n${line.replaceAll(',', delimiter)}"`;
      const described = ['A1', '501964843', 'Ana', text, '1', '10.00', 'IVA_23'];
      const named = ['A1', '501964843', text, 'Cabo', '1', '10.00', 'IVA_23'];
      const header = TITLES.join(delimiter);

      const found = await read([header, described.join(delimiter)]);
      const other = await read([header, named.join(delimiter)]);

      expect([outcomes(found), outcomes(other)]).toEqual([[true], [true]]);
    }
  });
});

it.each([
  ['no tax number of the merchant', 'A1,,Ana,"TEXT",1,10.00,IVA_23', 'nif-missing'],
  ['a tax number that nobody can read', 'A1,abc,Ana,"TEXT",1,10.00,IVA_23', 'nif-unreadable'],
  ['a delimiter too many', 'A1,501964843,Ana,Lda,"TEXT",1,10.00,IVA_23', 'cell-count'],
  ['no cell but the total', 'Total,,,"TEXT",,10.00,', 'totals-row'],
])('a row that is wrong is named alone, with numbers in a text and %s', async (_name, row, code) => {
  for (const [, line] of NUMBERS) {
    const found = await read([COMMAS, row.replace('TEXT', `Cabo\n${line}`), ROW]);

    const codes = [...found.result.findings, ...found.invoices.flatMap((one) => (one.ok ? [] : one.findings))];
    expect(found.result.ok).toBe(true);
    expect(codes.map((finding) => finding.code)).toContain(code);
    expect(found.invoices.filter(({ ok }) => ok)).toHaveLength(1);
  }
});
