import type { Telemetry } from '../telemetry.ts';
import { serveDeliveryCounters } from './delivery-counters.ts';
import { createLagSamples, type LagSamples } from './lag-samples.ts';
import { serveLedgerGauges } from './ledger-gauges.ts';
import { createLedgerSnapshots } from './ledger-snapshot.ts';
import { serveLimits } from './limits-in-force.ts';
import { measuredLedger } from './measured-ledger.ts';
import { measuredNights } from './measured-nights.ts';
import { measuredService, measureRequests } from './measured-service.ts';
import { createMeter } from './meter.ts';
import { serveProcessGauges, type ProcessIdentity } from './process-gauges.ts';
import { createSdkMetrics } from './sdk-metrics.ts';

/** Where the metrics are served, and of what. */
export interface MetricsOptions extends ProcessIdentity {
  /** Makes Prometheus' text reachable. @throws LoteError `port-taken`, `configuration-invalid` */
  readonly serve: (text: () => Promise<string>) => Promise<{ readonly url: string; close(): Promise<void> }>;
  readonly application: string;
  /** Of the service; null: this process does not know it, or learns it when the service is opened. */
  readonly baseUrl: string | null;
}

/** The part of the telemetry that measures. */
export type MetricsTelemetry = Omit<Telemetry, 'worker'> & {
  readonly onSdkMetrics: (address: string) => void;
};

/**
 * Serves the metrics of this process.
 * @throws LoteError `port-taken`, `configuration-invalid`
 */
export async function openMetrics(options: MetricsOptions): Promise<MetricsTelemetry> {
  const { application, role } = options;
  const now = Date.now;
  const meter = createMeter();
  const sdk = createSdkMetrics(meter);
  const limits = serveLimits(meter, now);
  let { baseUrl } = options;
  let lag: LagSamples | null = null;
  serveProcessGauges(meter, options);
  const server = await options.serve(async () => {
    // The SDK's first: whether it answered is one of Lote's own.
    const sdkText = await sdk.text();
    return `${await meter.text()}${sdkText}`;
  });
  meter.count('lote_ledger_statement_failures_total', {}, 0);
  return {
    onStatement(statement, ms, failed) {
      meter.time('lote_ledger_statement_duration_seconds', ms, { statement });
      if (failed) meter.count('lote_ledger_statement_failures_total');
    },
    onRequest: measureRequests(meter),
    ledger(ledger) {
      // A receiver keeps its connections for deliveries.
      if (role !== 'receiver') {
        const snapshots = createLedgerSnapshots({ ledger, application, baseUrl: () => baseUrl, now });
        serveLedgerGauges(meter, snapshots, now);
      }
      const record = (ms: number, state: string): void => meter.time('lote_final_word_lag_seconds', ms, { state });
      lag = createLagSamples({ ledger, record, random: Math.random });
      return measuredLedger(ledger, { meter, lag, limits });
    },
    service(service) {
      ({ baseUrl } = service);
      return measuredService(service, meter);
    },
    nights: (log) => measuredNights(log, meter),
    limits: (local) => limits.local(local),
    stuck: (batches) => meter.onScrape(['lote_stuck_batches'], (observe) => observe('lote_stuck_batches', batches())),
    deliveries: (totals) => serveDeliveryCounters(meter, totals),
    onSdkMetrics: (address) => sdk.servedAt(address),
    url: server.url,
    async close() {
      await server.close();
      await lag?.flush();
      await meter.close();
    },
  };
}
