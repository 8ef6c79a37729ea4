import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { lostRows, REQUIRED_COLUMNS } from '../../../src/domain/row.ts';
import { type ReadAs, isCorrectionsFile, parseReadAs, readAsText } from '../../../src/domain/read-as.ts';
import { xlsxOf } from '../../support/files/workbook-file.ts';
import { finding } from '../report/batch-invoices.ts';
import { csvRow, HEADER, ingestedText, removeTemporaryFiles } from '../ingest/ingested.ts';

afterAll(removeTemporaryFiles);

const mark = fc.constantFrom('.' as const, ',' as const);
const readAs: fc.Arbitrary<ReadAs> = fc.record(
  {
    decimal: mark,
    profile: fc.stringMatching(/^[a-z0-9][a-z0-9_-]{0,20}$/),
    encoding: fc.constantFrom('utf8', 'windows-1252', 'utf-16le', 'cp850', 'iso-8859-15'),
    delimiter: fc.constantFrom(',', ';', '\t', '|', ' ', '=', '§'),
    duplicateRows: fc.constant('keep' as const),
  },
  { requiredKeys: [] },
);

describe('how a corrections file was read', () => {
  it('comes back as it was written', () => {
    fc.assert(
      fc.property(readAs, (said) => {
        expect(parseReadAs(readAsText(said))).toEqual(said);
      }),
    );
  });

  it('is written in words, for a lone comma is hard to see in a cell', () => {
    expect(readAsText({ decimal: ',', profile: 'erp' })).toBe('decimal=comma profile=erp');
    expect(readAsText({})).toBe('');
    expect(readAsText({ delimiter: ';', encoding: 'cp850', duplicateRows: 'keep' })).toBe(
      'encoding=cp850 delimiter=59 duplicates=keep',
    );
  });

  const spoiled =
    'decimal decimal= decimal=, decimal=semicolon decimal=commas Decimal=comma profile= profile=../../etc/passwd ' +
    'profile=ERP my_decimal=comma delimiter=; delimiter= delimiter=123456 duplicates=all profile=a/b';
  it.each(['', ...spoiled.split(' ')])('is nothing where a person wrote %j over it', (text) => {
    expect(parseReadAs(text)).toStrictEqual({});
  });

  it('is found among other words, in any order', () => {
    expect(parseReadAs('  profile=a-1   decimal=comma ')).toEqual({ decimal: ',', profile: 'a-1' });
  });
});

describe('lostRows', () => {
  const totalsRow = finding(9, null, 'totals-row', '', 'warning');

  it('are the rows without an invoice, less the totals rows that were found', () => {
    expect(lostRows(0, [])).toBe(0);
    expect(lostRows(3, [totalsRow, finding(4, null, 'reference-missing', '')])).toBe(2);
  });

  it('count a totals row whose finding was left out: too loud is better than silent', () => {
    expect(lostRows(2, [totalsRow])).toBe(1);
  });
});

const INVOICE = {
  ...{ invoice_ref: 'F1', merchant: { nif: '501964843' }, customer: { name: 'Ana' }, currency: 'EUR' },
  lines: [{ description: 'Vela', quantity: 1, unit_price: 2, tax_code: 'IVA_23' }],
};
const SAID = { lote_state: 'invalid', lote_reason: 'why' };
const CELLS = csvRow().split(',');

describe('a corrections file', () => {
  it.each([
    ['CSV', `${HEADER},lote_original,lote_state,lote_reason\n${csvRow()},,invalid,why\n`],
    [
      'XLSX',
      xlsxOf([
        [...HEADER.split(','), ...Object.keys(SAID)],
        [...CELLS, ...Object.values(SAID)],
      ]),
    ],
    ['JSON', JSON.stringify([{ ...INVOICE, ...SAID }])],
    ['NDJSON', `${JSON.stringify({ ...INVOICE, ...SAID })}\n`],
  ])('is known by what Lote wrote into it, as %s', async (_, content) => {
    expect(isCorrectionsFile((await ingestedText(content)).result.proof)).toBe(true);
  });

  it.each([
    ['CSV', `${HEADER}\n${csvRow()}\n`],
    ['XLSX', xlsxOf([HEADER.split(','), CELLS])],
    [
      'JSON where one object says nothing',
      JSON.stringify([
        { ...INVOICE, ...SAID },
        { ...INVOICE, invoice_ref: 'F2' },
      ]),
    ],
    ['a file that cannot be read', 'nothing'],
  ])('is not %s', async (_, content) => {
    expect(isCorrectionsFile((await ingestedText(content)).result.proof)).toBe(false);
  });
});

it('a CSV file may leave out the details of merchants and the tax number of the buyer, and not these columns', () => {
  const first = ['invoice_ref', 'merchant_nif', 'customer_name', 'currency'];

  expect(REQUIRED_COLUMNS).toEqual([...first, 'description', 'quantity', 'unit_price', 'tax_code']);
});
