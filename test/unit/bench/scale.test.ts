import { describe, expect, it } from 'vitest';
import { tableText } from '../../../bench/print-table.ts';
import { MEASURED_COSTS, MOST_PER_LEDGER, MOST_PER_RECEIVER } from '../../../bench/scale/costs.ts';
import { costsTable, needsTable } from '../../../bench/scale/scale-tables.ts';
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
