import { describe, expect, it } from 'vitest';
import { createConsoleApp } from '../../../../src/console/console-app.ts';
import { nightFigures } from '../../../../src/console/figures/night-figures.ts';
import type { BatchFigures, BatchInFigures } from '../../../../src/domain/ports/figures.ts';
import type { BatchInvoice } from '../../../../src/domain/ports/ledger/batch-record.ts';
import { batchFigures } from '../../../../src/report/batch-figures.ts';
import { buildReport } from '../../../../src/report/build-report.ts';
import { batchInvoice, batchOf, ledgerOf } from '../../report/batch-invoices.ts';
import { ledgerHolding } from '../console-ledger.ts';

const DAY = 24 * 60 * 60 * 1000;
const NOON = Date.UTC(2026, 10, 21, 12);

const FIGURES: BatchFigures = {
  states: { issued: 90, 'already-issued': 1, failed: 4, rejected: 1, invalid: 2, held: 1, unsettled: 1 },
  money: [{ currency: 'EUR', net: '1000.10', out: '880.1', before: '20' }],
  // 1,280 ms for half of them, 20,480 ms for nearly all.
  settling: { 56: 60, 88: 38, 90: 2 },
  reasons: [
    { state: 'failed', code: 'engine-<down>', invoices: 4 },
    { state: 'rejected', code: 'tax-code', invoices: 1 },
  ],
};

function batch(over: Partial<BatchInFigures> = {}): BatchInFigures {
  return { application: 'default', startedAt: NOON, figures: FIGURES, ...over };
}

/** Of the report on a batch of these invoices. */
async function figuresOf(invoices: readonly BatchInvoice[]): Promise<BatchFigures> {
  const ledger = ledgerOf(batchOf(invoices), invoices);
  return batchFigures(
    await buildReport({
      ...{ batch: batchOf(invoices), counts: () => ledger.countOutcomes(''), invoices: ledger.batchInvoices('') },
      ...{ findings: [], revision: 1, notes: [], now: NOON },
    }),
  );
}

async function pageOf(batches: readonly BatchInFigures[], language = 'en'): Promise<string> {
  const app = createConsoleApp({
    ledger: ledgerHolding([], { batchFigures: async () => batches }),
    ...{ reportsDir: '/nowhere', links: { temporalUi: null }, version: '0.1.0', timeZone: 'UTC' },
  });
  const headers = { host: '127.0.0.1', 'accept-language': language };
  return (await app.request('http://127.0.0.1/figures', { headers })).text();
}

describe('the figures of nights', () => {
  it('add up what the reports of one day say, in the zone of the reader', () => {
    const late = Date.UTC(2026, 10, 21, 23, 30);
    const nights = nightFigures(
      [batch(), batch({ startedAt: late }), batch({ figures: null })],
      NOON + DAY,
      'Europe/Madrid',
    );

    expect(nights).toHaveLength(90);
    expect(nights.at(-1)).toMatchObject({ date: '2026-11-22', batches: 1 });
    expect(nights.at(-2)).toMatchObject({
      ...{ date: '2026-11-21', batches: 1 },
      fates: { issued: 90, failed: 5, notSent: 3, open: 1, before: 1 },
      ...{ median: 1_280, most: 20_480 },
    });
    expect(nights.at(-2)?.money).toEqual(new Map([['EUR', { out: '880.1', left: '100', before: '20' }]]));
    expect(nights[0]).toMatchObject({ batches: 0, median: null });
  });

  it('count what is left as it is also in a report that did not tell apart what an earlier file issued', () => {
    const older = batch({ figures: { ...FIGURES, money: [{ currency: 'EUR', net: '-5', out: '-7.5' }] } });

    expect(nightFigures([older], NOON, 'UTC').at(-1)?.money).toEqual(
      new Map([['EUR', { out: '-7.5', left: '2.5', before: '0' }]]),
    );
  });

  it('count a document once that stands in two files of one night', async () => {
    const invoice = batchInvoice({ net: '100', sentAt: NOON, settledAt: NOON + 1_000 });
    const invoices = [[invoice], [{ ...invoice, issuedElsewhere: true } as const]];
    const batches = await Promise.all(invoices.map(async (one) => batch({ figures: await figuresOf(one) })));

    const night = nightFigures(batches, NOON, 'UTC').at(-1);

    expect(night?.fates).toEqual({ issued: 1, failed: 0, notSent: 0, open: 0, before: 1 });
    expect(night?.money).toEqual(new Map([['EUR', { out: '100', left: '0', before: '100' }]]));
  });

  it('merges settle times instead of averaging them', () => {
    const slow = batch({ figures: { ...FIGURES, settling: { 104: 300 } } });

    expect(nightFigures([batch(), slow], NOON, 'UTC').at(-1)?.median).toBe(81_920);
  });
});

describe('the page of figures', () => {
  it('has a table behind every picture, and says in words what a picture shows', async () => {
    const page = await pageOf([batch({ startedAt: Date.now() })]);

    expect(page.match(/<figure>/gu)).toHaveLength(4);
    expect(page).toContain(
      'aria-label="Invoices: went out 90, failed or refused 5, not sent 3, without a final word 1, issued by another file 1"',
    );
    expect(page).toContain('half of the invoices within <strong>up to 1.3 seconds</strong>');
    expect(page.match(/<td>/gu)).toHaveLength(8 + 2);
    expect(page).toContain('engine-&lt;down&gt;');
    expect(page).toContain('880.10 + 100.00 + 20.00 EUR');
  });

  it('leaves negative sums to the table, and says so', async () => {
    const credit = { ...FIGURES, money: [{ currency: 'EUR', net: '-90', out: '-100' }] };
    const page = await pageOf([batch({ startedAt: Date.now(), figures: credit })]);

    expect(page).toContain('Sums below zero are not drawn; the table has them.');
    expect(page).toContain('<span>10 EUR</span>');
    expect(await pageOf([batch({ startedAt: Date.now() })])).not.toContain('below zero');
  });

  it('is that of one application where one of several is chosen', async () => {
    const now = Date.now();
    const batches = [
      batch({ startedAt: now, application: 'anna' }),
      batch({ startedAt: now, application: 'bela', figures: { ...FIGURES, states: { issued: 7 } } }),
    ];
    const app = createConsoleApp({
      ledger: ledgerHolding([], { batchFigures: async () => batches }),
      ...{ reportsDir: '/nowhere', links: { temporalUi: null }, version: '0.1.0', applications: ['anna', 'bela'] },
    });
    const textOf = async (path: string) =>
      (await app.request(`http://127.0.0.1${path}`, { headers: { host: '127.0.0.1' } })).text();

    expect(await textOf('/figures')).toContain('went out 97,');
    expect(await textOf('/figures?application=bela')).toContain('went out 7,');
  });

  it('says what is missing instead of drawing nothing', async () => {
    const page = await pageOf([batch({ figures: null })]);

    expect(page).toContain('No report of these nights yet.');
    expect(page).toContain('1 batch is not in the pictures');
    expect(page).not.toContain('<figure>');
  });

  it.each(['en', 'pt', 'es'])(
    'is smaller than 100 kB in %s with ninety full nights of many reasons and currencies',
    async (language) => {
      const now = Date.now();
      const full = Array.from({ length: 270 }, (_, at) =>
        batch({
          startedAt: now - (at % 90) * DAY,
          figures: {
            ...FIGURES,
            states: { issued: 48_000 + at, failed: 1_000 + at, held: 500, unsettled: 500 },
            money: ['EUR', 'USD', 'GBP', 'CHF'].map((currency) => ({
              currency,
              net: '12345678.91',
              out: '12345678.9',
            })),
            reasons: Array.from({ length: 10 }, (_none, n) => ({
              ...{ state: 'failed' as const, code: `reason-of-the-service-number-${(at + n) % 40}`, invoices: 100 + n },
            })),
          },
        }),
      );

      expect(Buffer.byteLength(await pageOf(full, language))).toBeLessThan(100_000);
    },
  );
});
