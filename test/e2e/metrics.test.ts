import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { startFleet, type Fleet } from '../support/lote/fleet.ts';
import { nightSummary, readJson, type CommandReport } from '../support/lote/running-lote.ts';
import { startCollector, type Collector, metricsNamed, scrape, type Scrape } from '../support/metrics.ts';
import { until } from '../support/until.ts';

const ROLES = ['worker', 'receiver', 'console'] as const;
const INVOICES = 80;
/** Words of every invoice of the file: names, tax numbers and references. A moment in nanoseconds may hold the digits of a tax number. */
const PERSONAL = /Cliente|Comerciante|501964843|502773154|511882408|\b2000000\d\d\b|fiscal@|\bF\/\d/;
/** They exist only while something is limited, or has gone wrong. */
const NOT_ALWAYS = new Set(['lote_service_rate_limit']);
const METRICS_AT = /metrics at (\S+)\n/;

async function named(file: string): Promise<readonly string[]> {
  return metricsNamed(await readFile(new URL(`../../deploy/${file}`, import.meta.url), 'utf8'));
}

describe.skipIf(inject('postgresUrl') === null)('the metrics of each process', () => {
  let fleet: Fleet;
  let collector: Collector;
  let report: CommandReport;
  const urls = { worker: '', receiver: '', console: '' };

  beforeAll(async () => {
    collector = await startCollector();
    fleet = await startFleet({
      roles: ROLES,
      env: {
        ...{ METRICS_PORT: '0', HEALTH_PORT: '0', CONSOLE_PORT: '0', LOTE_PAGE_SIZE: '100' },
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
      },
      sandbox: { faults: { lostAfterCreate: 0.2, webhookForged: 0.3, webhookDuplicated: 0.2 } },
    });
    for (const [at, role] of ROLES.entries()) {
      const said = (): string => METRICS_AT.exec(fleet.parts[at]?.output() ?? '')?.[1] ?? '';
      await until(() => said() !== '');
      urls[role] = said();
    }
    await fleet.file('night.csv', { invoices: INVOICES, failing: [3, 33, 63], invalid: [7, 47] });
    const on = await fleet.run('nightly', 'on', '--at', '02:30', '--timezone', 'Europe/Lisbon');
    if (on.code !== 0) throw new Error(on.stderr);
    const { runs } = await nightSummary(await fleet.run('nightly', 'now', '--json'));
    report = await readJson(join(fleet.place.reportsDir, runs[0]?.files[0]?.batchId ?? '', 'report.json'));
  });

  afterAll(async () => {
    await fleet.remove();
    collector.close();
  });

  async function all(): Promise<Readonly<Record<(typeof ROLES)[number], Scrape>>> {
    const [worker, receiver, web] = await Promise.all(ROLES.map((role) => scrape(urls[role])));
    if (worker === undefined || receiver === undefined || web === undefined) throw new Error('No scrape');
    return { worker, receiver, console: web };
  }

  it('agree with the report: invoices, POSTs, repeats, deliveries, the night', async () => {
    const issued = report.counts['issued'] ?? 0;
    expect(report.counts).toMatchObject({ invoices: INVOICES, failed: 3, invalid: 2 });
    // The figures of the ledger are read every few seconds.
    await until(async () => (await scrape(urls.console)).sum('lote_batches', { state: 'finished' }) === 1);
    await until(async () => (await scrape(urls.worker)).sum('lote_invoices', { state: 'issued' }) === issued);
    const { worker, receiver, console: web } = await all();

    const states = new Set(report.invoices.map(({ state }) => state));
    for (const state of states) {
      const count = report.counts[state];
      expect({ state, count: worker.sum('lote_invoices', { state }) }).toEqual({ state, count });
      expect({ state, count: web.sum('lote_invoices', { state }) }).toEqual({ state, count });
    }
    expect(worker.sum('lote_invoices')).toBe(INVOICES);

    const attempts = report.invoices.reduce((sum, one) => sum + one.attempts, 0);
    const sent = report.invoices.filter((one) => one.attempts > 0).length;
    const requests = 'lote_service_request_duration_seconds_count';
    const operation = 'create-invoice';
    const posts = worker.sum(requests, { operation }) - worker.sum(requests, { operation, outcome: 'not-sent' });
    expect(posts).toBe(attempts);
    expect(attempts).toBeGreaterThan(sent);
    expect(worker.sum(requests, { operation, outcome: '2xx' })).toBe(sent);
    expect(worker.sum(requests, { operation, outcome: 'no-answer' })).toBe(attempts - sent);

    expect(receiver.sum('lote_deliveries_taken_total')).toBeGreaterThanOrEqual(sent);
    expect(receiver.sum('lote_deliveries_refused_total', { reason: 'signature-wrong' })).toBeGreaterThan(0);
    expect(worker.sum('lote_nightly_files_total', { verdict: 'attention' })).toBe(1);
    expect(worker.sum('lote_nightly_runs_total')).toBe(1);
    expect(worker.sum('lote_oldest_unsettled_seconds') + worker.sum('lote_circuit_breaker_open')).toBe(0);
  });

  it('hold those of the Temporal SDK, at the same address', async () => {
    const { worker, receiver } = await all();

    const activity = { activity_type: 'submitSlice' };
    expect(worker.sum('temporal_activity_execution_latency_seconds_count', activity)).toBeGreaterThan(0);
    expect(receiver.text).not.toContain('temporal_');
  });

  it('are all that alerts and dashboard name', async () => {
    const { worker, receiver, console: web } = await all();
    const served = new Set([...worker.names, ...receiver.names, ...web.names]);

    const wanted = [...(await named('prometheus/alerts.yaml')), ...(await named('grafana/lote.json'))];

    expect(wanted.filter((name) => !served.has(name) && !NOT_ALWAYS.has(name))).toEqual([]);
  });

  it('and the spans of slices hold nothing personal', async () => {
    await until(() => collector.got.some((body) => body.includes('RunActivity:submitSlice')));
    const spans = collector.got.join('\n');
    const { worker, receiver, console: web } = await all();

    expect(spans).not.toMatch(PERSONAL);
    for (const { text } of [worker, receiver, web]) {
      // Values are floating point numbers with any digits.
      const labels = [...text.matchAll(/\{.*\}/g)].map(([found]) => found).join('\n');
      expect(labels).not.toMatch(PERSONAL);
    }
  });
});
