import { describe, expect, it } from 'vitest';
import { nightFigures } from '../../../../src/console/routes/figures-routes.ts';
import { ledgerHolding, pageAt, testConsole } from '../console-ledger.ts';
import type { BatchFigures, BatchInFigures } from '../../../../src/ledger/operations/report-marks.ts';

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

function pageOf(batches: readonly BatchInFigures[], language = 'en'): Promise<string> {
  const ledger = ledgerHolding([], { batchFigures: async () => batches });
  return pageAt(testConsole({ ledger }), '/figures', language);
}

describe('the figures of nights', () => {
  it('add up what the reports of one day say, in the zone of the reader', () => {
    const late = Date.UTC(2026, 10, 21, 23, 30);
    const batches = [batch(), batch({ startedAt: late }), batch({ figures: null })];
    const nights = nightFigures(batches, NOON + DAY, 'Europe/Madrid');

    expect(nights.map(({ date }) => date)).toEqual(['2026-11-22', '2026-11-21']);
    expect(nights[1]).toMatchObject({ counts: { ...FIGURES.states, unknown: 0 }, median: 1_280, most: 20_480 });
    expect(nights[1]?.money).toEqual(new Map([['EUR', { out: '880.1', net: '1000.1' }]]));
    expect(nightFigures([batch()], NOON + 90 * DAY, 'UTC')).toEqual([]);
    expect(nightFigures([batch()], NOON + 89 * DAY, 'UTC')).toHaveLength(1);
  });

  it('merges settle times instead of averaging them', () => {
    const slow = batch({ figures: { ...FIGURES, settling: { 104: 300 } } });

    expect(nightFigures([batch(), slow], NOON, 'UTC').at(-1)?.median).toBe(81_920);
  });
});

describe('the page of figures', () => {
  it('shows each night as a bar of its states and in numbers', async () => {
    const page = await pageOf([batch({ startedAt: Date.now() })]);

    expect(page).toContain(
      'aria-label="issued 90, already-issued 1, unsettled 1, held 1, failed 4, rejected 1, invalid 2"',
    );
    expect(page).toContain('<td class="number">1.3 seconds</td>');
    expect(page).toContain('<div><span class="state bad">failed</span> 4</div>');
    expect(page).toContain('engine-&lt;down&gt;');
    expect(page).toContain('880.10 / 1,000.10 EUR');
  });

  it('says what is missing instead of drawing nothing', async () => {
    const page = await pageOf([batch({ figures: null })]);

    expect(page).toContain('No report of these nights yet.');
    expect(page).toContain('1 batch is not in the table');
    expect(page).not.toContain('<table');
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
            money: ['EUR', 'USD', 'GBP', 'CHF'].map((currency) => ({ currency, net: '12345678.91', out: '1234567.9' })),
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
