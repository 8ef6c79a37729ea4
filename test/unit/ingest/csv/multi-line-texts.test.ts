import { afterAll, describe, expect, it } from 'vitest';
import { ingestedText, removeTemporaryFiles } from '../ingested.ts';
import type { Ingested } from '../ingested.ts';

afterAll(removeTemporaryFiles);

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

describe('a row that is wrong', () => {
  it.each([
    ['no tax number of the merchant', 'A1,,Ana,"TEXT",1,10.00,IVA_23', 'nif-missing'],
    ['a tax number that nobody can read', 'A1,abc,Ana,"TEXT",1,10.00,IVA_23', 'nif-unreadable'],
    ['a delimiter too many', 'A1,501964843,Ana,Lda,"TEXT",1,10.00,IVA_23', 'cell-count'],
    ['no cell but the total', 'Total,,,"TEXT",,10.00,', 'totals-row'],
  ])('is named alone, with numbers in a text and %s', async (_name, row, code) => {
    for (const [, line] of NUMBERS) {
      const found = await read([COMMAS, row.replace('TEXT', `Cabo\n${line}`), ROW]);

      const codes = [...found.result.findings, ...found.invoices.flatMap((one) => (one.ok ? [] : one.findings))];
      expect(found.result.ok).toBe(true);
      expect(codes.map((finding) => finding.code)).toContain(code);
      expect(found.invoices.filter(({ ok }) => ok)).toHaveLength(1);
    }
  });
});
