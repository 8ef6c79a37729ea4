import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Invoice } from '../../src/domain/invoice.ts';
import { COLUMNS } from '../../src/domain/row.ts';
import { contentOf, readKept, handedBack } from '../support/files/confirmed-layout.ts';
import { odsOf, xlsxOf } from '../support/files/workbook-file.ts';
import type { TableCell } from '../support/files/workbook-file.ts';
import { invoiceTable } from './invoice-table.ts';
import { propertyRuns } from './property-runs.ts';

let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'lote-workbook-corrections-'));
  mkdirSync(join(directory, 'profiles'));
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** A spreadsheet keeps 15 digits of a number. */
function asNumber(text: string): TableCell {
  return text.replace(/\D/g, '').length <= 15 ? { number: text } : text;
}

function tableOf(invoices: readonly Invoice[], isTyped: boolean): readonly (readonly TableCell[])[] {
  const number = (text: string): TableCell => (isTyped ? asNumber(text) : text);
  const rows = invoices.flatMap(({ ref, merchant, customer, currency, lines }) =>
    lines.map(({ description, quantity, unitPrice, taxCode }): readonly TableCell[] => [
      ...[ref, merchant.nif, merchant.legalName ?? '', merchant.email ?? '', customer.name, customer.taxId ?? ''],
      ...[currency, description, number(quantity), number(unitPrice), taxCode],
    ]),
  );
  return [COLUMNS, ...rows];
}

describe('a workbook of corrections', () => {
  it('is what was handed back, however often it comes back, with the same words for what is wrong', async () => {
    let compared = 0;
    await fc.assert(
      fc.asyncProperty(
        invoiceTable,
        fc.boolean(),
        fc.constantFrom(xlsxOf, odsOf),
        async (invoices, isTyped, bookOf) => {
          const first = await readKept(directory, bookOf(tableOf(invoices, isTyped)));
          if (!first.read.ok || first.invoices.length === 0) return;
          compared += 1;

          const second = await readKept(directory, await handedBack(directory, first));
          const third = await readKept(directory, await handedBack(directory, second));

          expect(second.invoices.map(contentOf)).toEqual(first.invoices.map(contentOf));
          expect(third.invoices.map(contentOf)).toEqual(first.invoices.map(contentOf));
        },
      ),
      propertyRuns(100),
    );
    expect(compared).toBeGreaterThan(20);
  });
});
