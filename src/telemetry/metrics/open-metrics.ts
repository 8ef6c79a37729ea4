import type { Telemetry } from '../telemetry.ts';
import { serveDeliveryCounters } from './delivery-counters.ts';
import { createLagSamples, type LagSamples } from './lag-samples.ts';
import { serveLedgerGauges } from './ledger-gauges.ts';
import type { Labels } from './label-bounds.ts';
import { createLedgerSnapshots, type LedgerSource } from './ledger-snapshot.ts';
import { serveLimits, type LimitsInForce } from './limits-in-force.ts';
import { measuredLedger } from './measured-ledger.ts';
import { measuredNights } from './measured-nights.ts';
import { measuredService, measureRequests } from './measured-service.ts';
import { createMeter, type Meter } from './meter.ts';
import { serveProcessGauges, type ProcessIdentity } from './process-gauges.ts';
import { createSdkMetrics } from './sdk-metrics.ts';

/** Where the metrics are served, and of what. */
export interface MetricsOptions extends ProcessIdentity {
  /** Makes Prometheus' text reachable. @throws LoteError `port-taken`, `configuration-invalid` */
  readonly serve: (text: () => Promise<string>) => Promise<{ readonly url: string; close(): Promise<void> }>;
  /** The only one; of several, each is named by `forApplication`. */
  readonly application: string;
  /** Of the service; null: this process does not know it, or learns it when the service is opened. */
  readonly baseUrl: string | null;
}

/** What is measured for each application. */
export type ApplicationMetrics = Pick<Telemetry, 'ledger' | 'service' | 'nights' | 'limits'>;

/** The part of the telemetry that measures. */
export type MetricsTelemetry = Omit<Telemetry, 'worker' | 'ofApplication'> & {
  readonly onSdkMetrics: (address: string) => void;
  /** Of one of several applications, whose name is a label of what is counted for each. */
  readonly forApplication: (application: string) => ApplicationMetrics;
};

/**
 * Serves the metrics of this process.
 * @throws LoteError `port-taken`, `configuration-invalid`
 */
export async function openMetrics(options: MetricsOptions): Promise<MetricsTelemetry> {
  const { application, baseUrl, role } = options;
  const now = Date.now;
  const meter = createMeter();
  const sdk = createSdkMetrics(meter);
  const sources: LedgerSource[] = [];
  const lags: LagSamples[] = [];
  serveProcessGauges(meter, options);
  // A receiver keeps its connections for deliveries.
  if (role !== 'receiver') serveLedgerGauges(meter, createLedgerSnapshots({ sources, now }), now);
  const server = await options.serve(async () => {
    // The SDK's first: whether it answered is one of Lote's own.
    const sdkText = await sdk.text();
    return `${await meter.text()}${sdkText}`;
  });
  meter.count('lote_ledger_statement_failures_total', {}, 0);
  const onRequest = measureRequests(meter);
  const own = { meter, sources, lags, now };
  return {
    ...applicationMetrics(own, { application, baseUrl, labels: {} }),
    forApplication: (name) => applicationMetrics(own, { application: name, baseUrl, labels: { application: name } }),
    onStatement(statement, ms, failed) {
      meter.time('lote_ledger_statement_duration_seconds', ms, { statement });
      if (failed) meter.count('lote_ledger_statement_failures_total');
    },
    onRequest,
    stuck: (batches) => meter.onScrape(['lote_stuck_batches'], (observe) => observe('lote_stuck_batches', batches())),
    deliveries: (totals) => serveDeliveryCounters(meter, totals),
    onSdkMetrics: (address) => sdk.servedAt(address),
    url: server.url,
    async close() {
      await server.close();
      await Promise.all(lags.map(async (lag) => lag.flush()));
      await meter.close();
    },
  };
}

interface MetricsParts {
  readonly meter: Meter;
  readonly sources: LedgerSource[];
  readonly lags: LagSamples[];
  readonly now: () => number;
}

function applicationMetrics(
  { meter, sources, lags, now }: MetricsParts,
  { application, labels, ...known }: { application: string; baseUrl: string | null; labels: Labels },
): ApplicationMetrics {
  let { baseUrl } = known;
  let limits: LimitsInForce | null = null;
  const inForce = (): LimitsInForce => (limits ??= serveLimits(meter, { now, labels }));
  return {
    ledger(ledger) {
      sources.push({ ledger, application, labels, baseUrl: () => baseUrl });
      const record = (ms: number, state: string): void => meter.time('lote_final_word_lag_seconds', ms, { state });
      const lag = createLagSamples({ ledger, record, random: Math.random });
      lags.push(lag);
      return measuredLedger(ledger, { meter, lag, limits: inForce() });
    },
    service(service) {
      ({ baseUrl } = service);
      return measuredService(service, meter);
    },
    nights: (log) => measuredNights(log, { meter, labels }),
    limits: (local) => inForce().local(local),
  };
}
