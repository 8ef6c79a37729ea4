import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import type { Finding, Invoice } from '../../src/domain/invoice.ts';
import type { Ingested } from '../unit/ingest/ingested.ts';
import { ingestedText, removeTemporaryFiles } from '../unit/ingest/ingested.ts';
import { identityOf, invoiceTable } from './invoice-table.ts';
import { propertyRuns } from './property-runs.ts';
import { csvStyle, declaredEncoding, writtenCsv } from './written-csv.ts';
import { jsonStyle, writtenJson } from './written-json.ts';
import type { NumberStyle } from './written-number.ts';
import { evidenceOf, withMark } from './written-number.ts';

afterAll(removeTemporaryFiles);

/** Whether a file of cells so written proves its mark, and that it groups thousands where one that may be no group does. */
function proves(invoices: readonly Invoice[], styles: { readonly quantity: NumberStyle; readonly price: NumberStyle }) {
  const kinds = invoices.flatMap(({ lines }) =>
    lines.flatMap((line) => [evidenceOf(line.quantity, styles.quantity), evidenceOf(line.unitPrice, styles.price)]),
  );
  if (kinds.includes('thousand')) return kinds.includes('grouping');
  return !kinds.includes('decimal') || kinds.includes('decisive') || kinds.includes('grouping');
}

function withOneMark<T extends { readonly quantity: NumberStyle; readonly price: NumberStyle }>(style: T): T {
  return { ...style, price: withMark(style.price, style.quantity.mark) };
}

/** A text that Lote takes for damage or for a total, and says so: its invoice may come back invalid, never changed. */
function mayBeDoubted({ ref, customer, merchant, lines }: Invoice): boolean {
  const texts = [ref, customer.name, merchant.legalName ?? '', ...lines.map(({ description }) => description)];
  return texts.some((text) => text.startsWith('#'));
}

/** Its last cell may be cut. */
function isDoubted(findings: readonly Finding[]): boolean {
  return findings.every(({ code, severity }) => code === 'line-end-missing' || severity !== 'error');
}

/** Every invoice of the table, exactly, or a finding that says why not; nothing else. */
function expectSame(read: Ingested, invoices: readonly Invoice[]): void {
  expect(read.result).toMatchObject({ ok: true });
  const expected = new Map(invoices.map((invoice) => [identityOf(invoice), invoice]));
  expect(read.invoices).toHaveLength(expected.size);
  for (const one of read.invoices) {
    const merchant = one.ok ? one.invoice.merchant : { nif: one.nif, legalName: null, email: null };
    const identity = identityOf({ ref: one.ok ? one.invoice.ref : one.ref, merchant });
    const invoice = expected.get(identity);
    if (invoice === undefined) throw new Error(`An invoice that nobody wrote: ${identity}`);
    if (one.ok) expect(one.invoice).toEqual(invoice);
    else expect([isDoubted(one.findings) || mayBeDoubted(invoice), one.findings]).toEqual([true, expect.anything()]);
    expected.delete(identity);
  }
}

function refusalOf({ result }: Ingested): string | null {
  return result.ok ? null : (result.findings[0]?.code ?? '');
}

describe('any table of invoices', () => {
  it('reads back the same from CSV in any dialect, encoding, language and number convention, or is refused', async () => {
    await fc.assert(
      fc.asyncProperty(invoiceTable, csvStyle.map(withOneMark), async (invoices, style) => {
        const read = await ingestedText(writtenCsv(invoices, style), declaredEncoding(style.encoding));
        const refused = refusalOf(read);

        // Bytes of 256 characters prove nothing by themselves: doubts may refuse them, and reading them is said.
        if (style.encoding === 'cp850' || style.encoding === 'windows-1252') {
          if (refused === 'encoding-unproved') return;
          if (style.encoding === 'cp850' && read.result.findings.some(({ code }) => code === 'encoding-assumed'))
            return;
        }
        // The reference or tax number of a merchant in which a file ends may be cut.
        if (refused === 'truncated') {
          const isFilled = (column: string): boolean => !/legal_name|email|customer_tax_id/u.test(column);
          expect(style.finalLineEnd).toBe(false);
          expect(['invoice_ref', 'merchant_nif']).toContain(style.order.findLast(isFilled));
          return;
        }
        if (proves(invoices, style)) expectSame(read, invoices);
        else expect(refused).toBe('decimal-unproved');
      }),
      propertyRuns(400),
    );
  });

  it('reads back the same from JSON in any frame, order and spelling, or is refused', async () => {
    await fc.assert(
      fc.asyncProperty(invoiceTable, jsonStyle.map(withOneMark), async (invoices, style) => {
        const read = await ingestedText(writtenJson(invoices, style));

        if (style.numbers !== 'text' || proves(invoices, style)) expectSame(read, invoices);
        else expect(refusalOf(read)).toBe('decimal-unproved');
      }),
      propertyRuns(300),
    );
  });

  it('is refused where its columns prove both marks', async () => {
    await fc.assert(
      fc.asyncProperty(invoiceTable, jsonStyle, async (invoices, style) => {
        const { quantity, price } = style;
        const proved = (what: 'quantity' | 'unitPrice', how: NumberStyle) =>
          invoices.some(({ lines }) =>
            lines.some((line) => ['decisive', 'grouping'].includes(evidenceOf(line[what], how))),
          );
        fc.pre(quantity.mark !== price.mark && proved('quantity', quantity) && proved('unitPrice', price));

        const read = await ingestedText(writtenJson(invoices, { ...style, numbers: 'text' }), { decimal: price.mark });

        expect(refusalOf(read)).toBe('decimal-contradictory');
      }),
      propertyRuns(100),
    );
  });
});
