import { describe, expect, it } from 'vitest';
import { tableText } from '../../../bench/print-table.ts';
import { MEASURED_COSTS, MOST_PER_LEDGER, MOST_PER_RECEIVER } from '../../../bench/scale/costs.ts';
import { needsOf, useOf } from '../../../bench/scale/night.ts';
import { checkTable, costsTable, needsTable } from '../../../bench/scale/scale-tables.ts';
import { pageText } from '../../support/lote/readme.ts';

const SCALE = pageText('docs/deployment.md');
const BENCHMARKS = pageText('docs/benchmarks.md');
const TEN_MILLION = 10_000_000;

describe('the scale in docs/deployment.md', () => {
  it('shows what the model says of ten million invoices', () => {
    const nights = [8, 2].map((hours) => ({ invoices: TEN_MILLION, hours }));

    expect(SCALE).toContain(tableText(needsTable(nights)));
  });

  it('shows the costs that the model is fed with, in the benchmarks', () => {
    expect(BENCHMARKS).toContain(tableText(costsTable(MEASURED_COSTS)));
  });

  it('takes its limits from the benchmarks', () => {
    expect(BENCHMARKS).toContain(`| PostgreSQL | ${MOST_PER_LEDGER.toLocaleString('en')} |`);
    expect(BENCHMARKS).toContain(`deliveries a group, deliveries/s | 17, ${MOST_PER_RECEIVER} |`);
  });
});

describe('the model of a night', () => {
  it('gives no ledger and no receiver more than was measured of one', () => {
    for (const hours of [0.5, 1, 2, 8]) {
      const { perSecond, ledgers, receivers } = needsOf(MEASURED_COSTS, { invoices: TEN_MILLION, hours });

      expect(perSecond / ledgers).toBeLessThan(MOST_PER_LEDGER);
      // One of them may be away.
      expect((2 * perSecond) / (receivers - 1)).toBeLessThan(MOST_PER_RECEIVER);
    }
  });

  it('counts whole pages of history, and a file once', () => {
    const [small, large] = [useOf(MEASURED_COSTS, 1), useOf(MEASURED_COSTS, 2_001)];

    expect([small.events, large.events]).toEqual([96, 192]);
    expect(small.loteCpuMs).toBeCloseTo(MEASURED_COSTS.loteCpuMs.start + MEASURED_COSTS.loteCpuMs.each);
  });

  it('asks the CPU of all sizes how fast the machine is, and for nothing else', () => {
    const slow = useOf(MEASURED_COSTS, 2_000, 3);
    const larger = { ...useOf(MEASURED_COSTS, 10_000, 3), events: 960 };

    const { title, rows } = checkTable([
      { invoices: 2_000, use: slow },
      { invoices: 10_000, use: larger },
    ]);

    expect(title).toContain('3.00');
    const off = Object.fromEntries(rows.map(([what = '', ...cells]) => [what, [cells[2], cells[5]]]));
    expect(off['CPU of Lote, ms']).toEqual(['0 %', '0 %']);
    expect(off['history events']).toEqual(['0 %', '100 %']);
  });
});
