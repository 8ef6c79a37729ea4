import { describe, expect, it } from 'vitest';
import { CATALOGUE, type MetricName } from '../../../../src/health/metrics/catalogue.ts';
import { createMeter } from '../../../../src/health/metrics/meter.ts';

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

  it('has every metric of the catalogue, and never a label that could name an invoice or a batch', async () => {
    const meter = createMeter();
    for (const name of Object.keys(CATALOGUE) as MetricName[]) {
      meter.count(name);
      meter.time(name, 1);
      meter.onScrape((observe) => observe(name, 1));
    }

    const text = await meter.text();

    for (const [name, { labels }] of Object.entries(CATALOGUE)) {
      expect(text).toContain(`# TYPE ${name} `);
      for (const label of labels) expect(label).not.toMatch(/batch|ref|nif|tax|key|id$/);
    }
    await meter.close();
  });
});
