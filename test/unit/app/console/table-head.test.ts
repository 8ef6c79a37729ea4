import { afterAll, describe, expect, it } from 'vitest';
import { readTableHead } from '../../../../src/app/files/table-head.ts';
import { officeWorkbook } from '../../../support/files/office-workbook.ts';
import { removeTemporaryFiles, temporaryFile } from '../../ingest/ingested.ts';

afterAll(removeTemporaryFiles);

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
