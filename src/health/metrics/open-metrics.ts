import type { Telemetry } from '../telemetry.ts';
import type { DeliveryCounts } from '../../webhooks/handle-delivery.ts';
import { createLedgerSnapshot, type LedgerSource, type LedgerSnapshot } from './ledger-snapshot.ts';
import { createMeter, type Meter } from './meter.ts';
import { VERDICTS } from './catalogue.ts';
import { OUTCOMES } from '../../domain/invoice-state.ts';
import type { RunLog } from '../../nightly/run-log.ts';
import type { MeasureRequest } from '../../domain/records/measures.ts';

interface ProcessIdentity {
  readonly version: string;
  readonly role: 'embedded' | 'worker' | 'receiver' | 'console';
}

function serveProcessGauges(meter: Meter, { version, role }: ProcessIdentity): void {
  let busy = performance.eventLoopUtilization();
  meter.onScrape((observe) => {
    const { user, system } = process.cpuUsage();
    const now = performance.eventLoopUtilization();
    observe('lote_build_info', 1, { version, role });
    observe('process_cpu_seconds_total', (user + system) / 1_000_000);
    observe('process_resident_memory_bytes', process.memoryUsage.rss());
    observe('process_start_time_seconds', performance.timeOrigin / 1_000);
    observe('nodejs_event_loop_utilization', performance.eventLoopUtilization(now, busy).utilization);
    busy = now;
  });
}

/** The address of the metrics, and the process that they describe. */
export interface MetricsOptions extends ProcessIdentity {
  /** Makes Prometheus' text reachable. @throws LoteError `port-taken`, `configuration-invalid` */
  readonly serve: (text: () => Promise<string>) => Promise<{ readonly url: string; close(): Promise<void> }>;
  readonly application: string;
  /** The base address of the service; null if this process does not know it, or learns it when it opens the service. */
  readonly baseUrl: string | null;
}

/** The part of the telemetry that measures. */
export type MetricsTelemetry = Omit<Telemetry, 'worker'> & {
  readonly onSdkMetrics: (address: string) => void;
  close(): Promise<void>;
};

/**
 * Serves the metrics of this process.
 * @throws LoteError `port-taken`, `configuration-invalid`
 */
export async function openMetrics(options: MetricsOptions): Promise<MetricsTelemetry> {
  const { application, role } = options;
  const now = Date.now;
  const meter = createMeter();
  let sdkAddress: string | null = null;
  let source: LedgerSource | null = null;
  let { baseUrl } = options;
  serveProcessGauges(meter, options);
  // A receiver keeps its connections for deliveries.
  if (role !== 'receiver') serveLedgerGauges(meter, createLedgerSnapshot({ source: () => source, now }), now);
  const server = await options.serve(
    async () => `${await meter.text()}${await sdkMetrics(sdkAddress).catch(() => '')}`,
  );
  meter.count('lote_ledger_statement_failures_total', {}, 0);
  const onRequest = measureRequests(meter);
  return {
    readsFrom(ledger) {
      source = { ledger, application, baseUrl: () => baseUrl };
    },
    sendsTo(address) {
      baseUrl = address;
    },
    nights: (log) => measuredNights(log, meter),
    onStatement(statement, ms, failed) {
      meter.time('lote_ledger_statement_duration_seconds', ms, { statement });
      if (failed) meter.count('lote_ledger_statement_failures_total');
    },
    onRequest,
    deliveries: (totals) => serveDeliveryCounters(meter, totals),
    onSdkMetrics: (address) => void (sdkAddress = address),
    url: server.url,
    async close() {
      await server.close();
      await meter.close();
    },
  };
}

function serveDeliveryCounters(meter: Meter, totals: () => Readonly<DeliveryCounts>): void {
  meter.onScrape((observe) => {
    const { taken, withoutEvent, notStored, refused } = totals();
    observe('lote_deliveries_taken_total', taken);
    observe('lote_deliveries_without_event_total', withoutEvent);
    observe('lote_deliveries_not_stored_total', notStored);
    for (const [reason, times] of Object.entries(refused)) observe('lote_deliveries_refused_total', times, { reason });
  });
}

/** Wraps the run log so that it counts files and runs when it records them. */
function measuredNights(log: RunLog, meter: Meter): RunLog {
  for (const verdict of VERDICTS) meter.count('lote_nightly_files_total', { verdict }, 0);
  meter.count('lote_nightly_runs_total', {}, 0);
  let lastFinishedAt: number | null = null;
  meter.onScrape((observe) => {
    if (lastFinishedAt !== null) observe('lote_nightly_last_finished_timestamp_seconds', lastFinishedAt / 1_000);
  });
  return {
    ...log,
    async record(night, entry) {
      const paths = await log.record(night, entry);
      meter.count('lote_nightly_files_total', { verdict: entry.verdict });
      return paths;
    },
    async finish(night, end) {
      const finished = await log.finish(night, end);
      meter.count('lote_nightly_runs_total');
      lastFinishedAt = Math.max(lastFinishedAt ?? 0, end.finishedAt);
      return finished;
    },
  };
}

/** Serves figures of the ledger, which Lote reads only for a scrape. */
function serveLedgerGauges(meter: Meter, snapshot: () => Promise<LedgerSnapshot | null>, now: () => number): void {
  meter.onScrape(async (observe) => {
    const figures = await snapshot();
    if (figures === null) return;
    const { at, batches, invoices, inDoubt, oldestAt, breakerOpen } = figures;
    observe('lote_ledger_snapshot_age_seconds', seconds(now() - at));
    for (const state of OUTCOMES) observe('lote_invoices', invoices.get(state) ?? 0, { state });
    observe('lote_invoices_in_doubt', inDoubt);
    for (const [state, number] of Object.entries(batches)) observe('lote_batches', number, { state });
    observe('lote_oldest_unsettled_seconds', oldestAt === null ? 0 : seconds(now() - oldestAt));
    if (breakerOpen !== null) observe('lote_circuit_breaker_open', breakerOpen ? 1 : 0);
  });
}

function seconds(ms: number): number {
  return Math.max(0, ms) / 1_000;
}

/** Times each request that has its permit, and counts the requests on the wire. */
export function measureRequests(meter: Meter): MeasureRequest {
  let inFlight = 0;
  meter.onScrape((observe) => observe('lote_service_requests_in_flight', inFlight));
  return (operation, waitedMs) => {
    const began = performance.now();
    inFlight += 1;
    meter.time('lote_service_permit_wait_seconds', waitedMs, { operation });
    return (outcome) => {
      inFlight -= 1;
      meter.time('lote_service_request_duration_seconds', performance.now() - began, { operation, outcome });
    };
  };
}

/** The SDK answers from memory, on loopback. */
const PATIENCE_MS = 2_000;

/** Reads the metrics that the native part of the Temporal SDK serves on a loopback address; empty if there are none. */
async function sdkMetrics(address: string | null): Promise<string> {
  if (address === null) return '';
  const answer = await fetch(`http://${address}/metrics`, { signal: AbortSignal.timeout(PATIENCE_MS) });
  return answer.ok ? answer.text() : '';
}
