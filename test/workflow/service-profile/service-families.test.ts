import { describe, expect, it } from 'vitest';
import { FAILING_TAX_CODE, REFUSED_TAX_CODE } from '../../services/fake/operations.ts';
import { type FakeService, startFake } from '../../services/fake/fake-service.ts';
import { defaultLike } from '../../services/default-like.ts';
import { FAMILIES } from '../../services/families.ts';
import { customerOf, customerTaxIdOf, type TestInvoice } from '../../support/files/batch-file.ts';
import { readReportOf, type ReportDocument, withStack, type TestStack } from '../../support/lote/stack.ts';
import type { Family, Faults } from '../../services/fake/family.ts';
import { ownPort } from '../../support/servers/own-port.ts';

/** Everything that goes wrong at once; each share is small enough that most invoices meet none of it. */
const ALL_FAULTS: Faults = {
  lostAnswers: 0.08,
  lostMerchantAnswers: 1,
  tooFast: 0.015,
  trouble: 0.03,
  earlyEvents: 0.1,
  repeatedEvents: 0.15,
  droppedEvents: 0.07,
};

/** Where the receiver of the stack takes deliveries. */
const WEBHOOK_PATH = '/webhooks';

/** Starts the fake service of a family, and Lote with nothing but the family's profile between them. */
async function withFamily(
  family: Family,
  options: {
    readonly existing: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
    /** Left out: everything that can go wrong. */
    readonly faults?: Partial<Faults>;
  },
  test: (stack: TestStack, fake: FakeService) => Promise<void>,
): Promise<void> {
  const fake = await startFake({ family, faults: options.faults ?? ALL_FAULTS, existing: options.existing });
  try {
    const receiverPort = await ownPort();
    const url = `http://127.0.0.1:${receiverPort}${WEBHOOK_PATH}`;
    const env: Record<string, string> = {
      ...options.env,
      // Dropped events are made good by GET, some seconds after the POST.
      LOTE_SETTLE_TIMEOUT: '90s',
      ...(family.events !== null && { WEBHOOK_URL: url }),
      ...(family.registersByHand && { WEBHOOK_SECRET: fake.registerByHand(url) }),
    };
    const profile = family.profile as Readonly<Record<string, unknown>>;
    const webhooks = family.events === null ? 'none' : 'on';
    await withStack(
      { profile, isProved: false, service: fake, receiverPort, webhooks, env },
      async (stack) => await test(stack, fake),
    );
  } finally {
    await fake.close();
  }
}

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

describe('a batch through a service that the profile alone describes', { concurrent: true }, () => {
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
});
