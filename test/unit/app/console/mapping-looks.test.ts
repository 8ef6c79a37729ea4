import { dirname } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { mapFile } from '../../../../src/app/files/map-file.ts';
import { mappingText } from '../../../../src/cli/output/check-text.ts';
import { readTableHead } from '../../../../src/ingest/profile/table-head.ts';
import { officeWorkbook } from '../../../support/files/office-workbook.ts';
import { removeTemporaryFiles, temporaryFile } from '../../ingest/ingested.ts';

afterAll(removeTemporaryFiles);

const HEADER = 'invoice_ref;merchant_nif;merchant_legal_name;customer_name;Obs;description;quantity;unit_price';

const CHOICES = { meanings: new Map(), constants: {}, taxCodes: new Map() };

function mappedOf(...lines: readonly string[]) {
  const path = temporaryFile(`${lines.join('\n')}\n`, 'a.csv');
  return mapFile({ path, inputDir: dirname(path), choices: CHOICES, bodyTemplate: null });
}

async function looks(...rows: readonly string[]): Promise<readonly string[]> {
  const mapped = await mappedOf(HEADER, ...rows);
  const text = mapped === null ? '' : mappingText('a.csv', mapped);
  for (const { header } of mapped?.looks ?? []) expect(text).toContain(`"${header}"`);
  expect(text.includes('look at this first')).toBe((mapped?.looks.length ?? 0) > 0);
  return (mapped?.looks ?? []).map(({ code, header }) => `${code} ${header}`);
}

describe('the proposal of a mapping says what deserves a look', () => {
  it('is silent about a plain table', async () => {
    expect(await looks('F1;500000000;Loja;Ana;x;Caneta;1;2.00', 'F2;500000000;Loja;Rui;x;Papel;1;3.00')).toEqual([]);
  });

  it.each([
    [
      'a column that is not used and differs within one reference',
      'differs Obs',
      [
        'F1;500000000;Loja;Ana;x;Caneta;1;2.00',
        'F1;500000000;Loja;Ana;y;Papel;1;3.00',
        'F2;500000000;Loja;Rui;x;Fita;1;1.00',
      ],
    ],
    [
      'a reference that is the same in all rows',
      'same-reference invoice_ref',
      ['F1;500000000;Loja;Ana;x;Caneta;1;2.00', 'F1;500000000;Loja;Rui;x;Papel;1;3.00'],
    ],
    [
      'a merchant that differs as often as the customer',
      'merchants merchant_legal_name',
      ['F1;500000000;Loja A;Ana;x;Caneta;1;2.00', 'F2;500000000;Loja B;Rui;x;Papel;1;3.00'],
    ],
  ])('%s', async (_, look, rows) => {
    expect(await looks(...rows)).toContain(look);
  });
});

const TABLE = [['Fatura', 'Cliente'], ...Array.from({ length: 300 }, (_, at) => [`F${at}`, at < 299 ? 'Ana' : 'Rui'])];

describe('the table for the proposal of a mapping', () => {
  it.each([
    ['CSV', TABLE.map((cells) => `${cells.join(';')}\n`).join(''), 'a.csv'],
    ['XLSX', officeWorkbook(TABLE), 'a.xlsx'],
  ] as const)('has the rows of the whole file: %s', async (_, content, name) => {
    const head = await readTableHead(temporaryFile(content, name));

    expect(head?.below).toHaveLength(300);
    expect(head?.below.at(-1)).toEqual(['F299', 'Rui']);
  });
});
