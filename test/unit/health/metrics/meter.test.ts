import { describe, expect, it } from 'vitest';
import { CATALOGUE, type MetricName } from '../../../../src/health/metrics/catalogue.ts';
import { createMeter } from '../../../../src/health/metrics/meter.ts';

/** A line of a metric without its buckets. */
async function linesOf(meter: ReturnType<typeof createMeter>, name: string): Promise<readonly string[]> {
  return (await meter.text()).split('\n').filter((line) => line.startsWith(name) && !line.includes('_bucket'));
}

describe('the meter', () => {
  it('serves what was counted and timed, in seconds and in the format of Prometheus', async () => {
    const meter = createMeter();
    meter.count('lote_nightly_runs_total', {}, 3);
    meter.count('lote_nightly_runs_total');
    meter.time('lote_service_permit_wait_seconds', 1_500, { operation: 'get-invoice' });
    meter.onScrape((observe) => observe('lote_batches', 2, { state: 'running' }));

    const text = await meter.text();

    expect(text).toContain('# TYPE lote_nightly_runs_total counter\nlote_nightly_runs_total 4\n');
    expect(text).toContain('lote_service_permit_wait_seconds_sum{operation="get-invoice"} 1.5\n');
    expect(text).toContain('lote_service_permit_wait_seconds_bucket{operation="get-invoice",le="1"} 0\n');
    expect(text).toContain('lote_service_permit_wait_seconds_bucket{operation="get-invoice",le="2.5"} 1\n');
    expect(text).toContain('lote_batches{state="running"} 2\n');
    await meter.close();
  });

  it('lets no value into a label that the catalogue does not allow, and no label that it does not name', async () => {
    const meter = createMeter();
    const personal = { state: 'Maria José', verdict: '501964843', answer: 'F/17', customer: 'Maria José' };
    for (const name of Object.keys(CATALOGUE) as MetricName[]) {
      meter.count(name, personal);
      meter.time(name, 1, personal);
      meter.onScrape((observe) => observe(name, 1, personal));
    }

    const text = await meter.text();

    expect(text).not.toMatch(/Maria|501964843|F\/17|customer/);
    expect(text).toContain('lote_invoices{state="other"} 1');
    for (const name of Object.keys(CATALOGUE)) expect(text).toContain(`# TYPE ${name} `);
    await meter.close();
  });

  it('bounds the number of values of an open label', async () => {
    const meter = createMeter();
    for (let name = 0; name < 1_000; name += 1)
      meter.time('lote_ledger_statement_duration_seconds', 1, { statement: `statement-${name}` });

    const counts = (await linesOf(meter, 'lote_ledger_statement_duration_seconds_count')).length;

    // Each of the first 200, and `other` for the rest.
    expect(counts).toBe(201);
    await meter.close();
  });

  it('has a bound for every label, and never a label that could name an invoice or a batch', () => {
    for (const [name, { labels }] of Object.entries(CATALOGUE)) {
      for (const [label, values] of Object.entries(labels)) {
        const most = typeof values === 'number' ? values : values.length;
        expect(most, `${name} ${label}`).toBeLessThanOrEqual(200);
        expect(label).not.toMatch(/batch|ref|nif|tax|key|id$/);
      }
    }
  });
});
