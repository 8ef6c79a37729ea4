import { describe, expect, it } from 'vitest';
import { FAILING_TAX_CODE, REFUSED_TAX_CODE } from '../../services/fake/operations.ts';
import type { FakeService } from '../../services/fake/fake-service.ts';
import { defaultLike } from '../../services/default-like.ts';
import { FAMILIES } from '../../services/families.ts';
import { customerOf, customerTaxIdOf, type TestInvoice } from '../../support/files/batch-file.ts';
import { readReportOf, type ReportDocument } from '../../support/lote/stack.ts';
import { withFamily } from '../../support/service-family-stack.ts';

const TIMEOUT_MS = 300_000;
/** A large batch, whose first invoices go before the others. */
const INVOICES = 210;
/** The first stands on a late page of the service's list; the others are new to it. */
const NIFS = ['501964843', '502011378', '503504564'] as const;
const PRICES = ['10.25', '0.1', '1234567.89', '3'];

function nth(number: number): TestInvoice {
  const taxCode = number % 25 === 7 ? REFUSED_TAX_CODE : number % 20 === 11 ? FAILING_TAX_CODE : 'IVA_23';
  return {
    ref: `F-${number}`,
    nif: NIFS[number % NIFS.length] ?? NIFS[0],
    unitPrice: PRICES[number % PRICES.length] ?? '1',
    quantity: String(1 + (number % 3)),
    taxCode,
  };
}

const BATCH = Array.from({ length: INVOICES }, (_, at) => nth(at + 1));

function stateOf({ taxCode }: TestInvoice): string {
  if (taxCode === REFUSED_TAX_CODE) return 'rejected';
  return taxCode === FAILING_TAX_CODE ? 'failed' : 'issued';
}

/** What the report says of each invoice, and what the service's books must hold for it. */
function expectLines(report: ReportDocument, { books }: FakeService): void {
  const lines = new Map(report.invoices.map((line) => [line.ref, line]));
  const byCustomer = (name: string) => books.invoices.filter(({ content }) => content.customerName === name);
  const merchants = new Map(books.merchants.map(({ id, nif }) => [id, nif]));
  const wrong: unknown[] = [];
  for (const invoice of BATCH) {
    const state = stateOf(invoice);
    const line = lines.get(invoice.ref);
    const booked = byCustomer(customerOf(invoice));
    const expected = state === 'rejected' ? [] : [state];
    const found = booked.map(({ status }) => status);
    if (line?.state !== state || found.join() !== expected.join())
      wrong.push({ ref: invoice.ref, expected: state, report: line?.state, reason: line?.reason, books: found });
    const [document] = booked;
    if (document === undefined) continue;
    expect(line).toMatchObject({ serviceId: document.id, idempotencyKey: document.key });
    const { merchantId, customerTaxId, lines: items } = document.content;
    expect(merchants.get(merchantId)).toBe(invoice.nif);
    expect(customerTaxId).toBe(customerTaxIdOf(invoice));
    expect(items).toMatchObject([
      { quantity: invoice.quantity, unitPrice: invoice.unitPrice, taxCode: invoice.taxCode },
    ]);
  }
  expect(wrong, 'invoices of which report and books say another thing than must be').toEqual([]);
  expect(books.invoices, 'nothing else was booked').toHaveLength(
    BATCH.filter((one) => stateOf(one) !== 'rejected').length,
  );
}

function expectMerchants({ books }: FakeService): void {
  for (const nif of NIFS)
    expect(
      books.merchants.filter((merchant) => merchant.nif === nif),
      nif,
    ).toHaveLength(1);
}

function expectDeliveries({ deliveries }: FakeService): void {
  expect(deliveries.endpoints).toHaveLength(1);
  expect(deliveries.dropped, 'events were dropped').toBeGreaterThan(0);
  expect(deliveries.repeated, 'events were repeated').toBeGreaterThan(0);
  expect(deliveries.accepted, 'deliveries that the receiver took').toBeGreaterThan(0);
  const refused = deliveries.statuses.filter((status) => status >= 400 && status <= 499);
  expect(refused, 'deliveries that the receiver refused').toEqual([]);
}

describe(
  'a batch through a service that the profile alone describes',
  { concurrent: true, timeout: TIMEOUT_MS },
  () => {
    it.each([defaultLike, ...FAMILIES])(
      'issues each invoice once, and reports what $name has in its books',
      async (family) => {
        await withFamily(family, { existing: [NIFS[0]] }, async (stack, fake) => {
          const result = await stack.run('family.csv', BATCH);

          expect(fake.books.mistakes, 'requests that the service did not understand').toEqual([]);
          expectLines(await readReportOf(result), fake);
          expectMerchants(fake);
          if (family.events !== null) expectDeliveries(fake);
          expect(result.state).toBe('finished');
        });
      },
    );
  },
);
