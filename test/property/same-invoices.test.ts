import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { fingerprintOf, idempotencyKeyOf } from '../../src/domain/fingerprint.ts';
import { csvRecord, escapeFormula } from '../../src/domain/text/escape-formula.ts';
import type { IngestOptions } from '../../src/ingest/ingest-result.ts';
import { odsOf, xlsxOf, type TableCell } from '../support/files/workbook-file.ts';
import { HEADER, ingested, removeTemporaryFiles, temporaryFile } from '../unit/ingest/ingested.ts';

afterAll(removeTemporaryFiles);

const COLUMNS = HEADER.split(',');
const RUNS = 60;

interface Line {
  readonly ref: string;
  readonly nif: string;
  readonly customer: string;
  readonly description: string;
  readonly quantity: string;
  readonly price: string;
  readonly tax: string;
}

/** Keys of all invoices by reference, or the codes of what is wrong: whatever a file says, in one form that can be compared. */
async function saidBy(file: string | Uint8Array, name: string, options: IngestOptions = {}): Promise<unknown> {
  const { result, invoices } = await ingested(temporaryFile(file, name), options);
  if (!result.ok) return result.findings[0]?.code;
  return invoices.map((grouped) => {
    if (!grouped.ok) return [grouped.ref, grouped.findings.map(({ code }) => code)];
    const { ref, merchant } = grouped.invoice;
    const identity = { application: 'default', merchantNif: merchant.nif, ref };
    return idempotencyKeyOf(identity, fingerprintOf(grouped.invoice), 1);
  });
}

function tableOf(lines: readonly Line[]): readonly (readonly string[])[] {
  const rows = lines.map((line) => {
    const { ref, nif, customer, description, quantity, price, tax } = line;
    return [ref, nif, customer, 'EUR', description, quantity, price, tax];
  });
  return [COLUMNS, ...rows];
}

function csvOf(table: readonly (readonly string[])[]): string {
  return table.map((cells) => `${csvRecord(cells, ',')}\n`).join('');
}

const words = fc
  .string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 12 })
  .map((text) => `x${text}x`)
  // What CSV writes for them is a matter of its own.
  .filter((text) => escapeFormula(text) === text && !/total|sum|soma|suma/i.test(text));
const unicode = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }).map((text) => `x${text.normalize()}x`);
/** At most 15 digits, as a spreadsheet keeps them. */
const amount = fc
  .tuple(fc.boolean(), fc.bigInt({ min: 0n, max: 10n ** 12n }), fc.integer({ min: 0, max: 6 }))
  .map(([negative, digits, decimals]) => {
    const text = digits.toString().padStart(decimals + 1, '0');
    const value = decimals === 0 ? text : `${text.slice(0, -decimals)}.${text.slice(-decimals)}`;
    return negative ? `-${value}` : value;
  });
const anyLine: fc.Arbitrary<Line> = fc.record({
  ref: fc.oneof(words, fc.integer({ min: 1, max: 999_999_999 }).map(String), fc.constantFrom('A1', 'B2')),
  nif: fc.constantFrom('501964843', '999999990'),
  customer: fc.constantFrom('Ana', 'Zé & Filhos, Lda'),
  description: fc.oneof(words, unicode, fc.constantFrom('a\nb', 'Pão "do" dia', '_x0041_', ' espaço ')),
  quantity: amount,
  price: amount,
  tax: fc.constantFrom('IVA_23', 'IVA_6'),
});
const lines = fc.array(anyLine, { minLength: 1, maxLength: 6 });

/** A table as a spreadsheet holds it: numbers as numbers, in any of the spellings of the same double. */
function typed(
  table: readonly (readonly string[])[],
  spell: (number: string) => string,
): readonly (readonly TableCell[])[] {
  return table.map((cells, row) =>
    cells.map((cell, at) => {
      const isNumber = ['quantity', 'unit_price', 'merchant_nif'].includes(COLUMNS[at] ?? '');
      const isReference = at === 0 && /^\d+$/.test(cell);
      return row > 0 && (isNumber || isReference) ? { number: spell(cell) } : cell;
    }),
  );
}

const SPELLINGS: readonly ((number: string) => string)[] = [
  (number) => number,
  (number) => String(Number(number)),
  // As Excel writes them: 0.1 is 0.10000000000000001.
  (number) =>
    Number(Number(number).toPrecision(17)) === Number(number)
      ? Number(number).toPrecision(17).replace(/e\+?/, 'E')
      : number,
];

describe('the same rows are the same invoices', () => {
  it('as CSV, and as XLSX and ODS with numbers', async () => {
    await fc.assert(
      fc.asyncProperty(lines, fc.constantFrom(...SPELLINGS), async (given, spell) => {
        const table = tableOf(given);
        // A number in a workbook has a decimal point; CSV has to be told.
        const expected = await saidBy(csvOf(table), 'a.csv', { decimal: '.' });

        expect(await saidBy(xlsxOf(typed(table, spell)), 'a.xlsx')).toEqual(expected);
        expect(await saidBy(odsOf(typed(table, spell)), 'a.ods')).toEqual(expected);
      }),
      { numRuns: RUNS },
    );
  });

  it('as CSV, and as XLSX and ODS with all cells as texts', async () => {
    await fc.assert(
      fc.asyncProperty(lines, fc.constantFrom('.', ','), async (given, mark) => {
        const table = tableOf(
          given.map((one) => ({
            ...one,
            quantity: one.quantity.replace('.', mark),
            price: one.price.replace('.', mark),
          })),
        );
        const expected = await saidBy(csvOf(table), 'a.csv');

        expect(await saidBy(xlsxOf(table), 'a.xlsx')).toEqual(expected);
        expect(await saidBy(odsOf(table), 'a.ods')).toEqual(expected);
      }),
      { numRuns: RUNS },
    );
  });
});
