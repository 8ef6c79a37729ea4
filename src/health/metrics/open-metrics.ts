import { setTimeout as sleep } from 'node:timers/promises';
import type { Telemetry } from '../telemetry.ts';
import type { DeliveryCounts } from '../../webhooks/handle-delivery.ts';
import { createMeter, type Meter } from './meter.ts';
import { OUTCOMES, type Outcome } from '../../domain/invoice-state.ts';
import { sharedAnswer } from '../../platform/concurrency.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { MeasuredState } from '../../ledger/operations/measuring.ts';
import type { RunLog } from '../../nightly/run-log.ts';
import type { NightlyVerdict } from '../../domain/records/night.ts';
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
interface MetricsOptions extends ProcessIdentity {
  /** Makes Prometheus' text reachable. @throws LoteError `port-taken`, `configuration-invalid` */
  readonly serve: (text: () => Promise<string>) => Promise<{ readonly url: string; close(): Promise<void> }>;
  readonly application: string;
  /** The base address of the service; null if this process does not know it, or learns it when it opens the service. */
  readonly baseUrl: string | null;
}

/** The part of the telemetry that measures. */
type MetricsTelemetry = Omit<Telemetry, 'worker'> & {
  readonly onSdkMetrics: (address: string) => void;
  close(): Promise<void>;
};

/**
 * Serves the metrics of this process.
 * @throws LoteError `port-taken`, `configuration-invalid`
 */
export async function openMetrics(options: MetricsOptions): Promise<MetricsTelemetry> {
  const { application, role } = options;
  const meter = createMeter();
  let sdkAddress: string | null = null;
  let source: LedgerSource | null = null;
  let { baseUrl } = options;
  serveProcessGauges(meter, options);
  // A receiver keeps its connections for deliveries.
  if (role !== 'receiver')
    serveLedgerGauges(
      meter,
      createLedgerSnapshot(() => source),
    );
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

const VERDICTS: readonly NightlyVerdict[] = ['issued', 'attention', 'refused', 'failed'];

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
function serveLedgerGauges(meter: Meter, snapshot: () => Promise<LedgerSnapshot | null>): void {
  meter.onScrape(async (observe) => {
    const figures = await snapshot();
    if (figures === null) return;
    const { at, batches, invoices, inDoubt, oldestAt, breakerOpen } = figures;
    observe('lote_ledger_snapshot_age_seconds', seconds(Date.now() - at));
    for (const state of OUTCOMES) observe('lote_invoices', invoices.get(state) ?? 0, { state });
    observe('lote_invoices_in_doubt', inDoubt);
    for (const [state, number] of Object.entries(batches)) observe('lote_batches', number, { state });
    observe('lote_oldest_unsettled_seconds', oldestAt === null ? 0 : seconds(Date.now() - oldestAt));
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

/** The shortest pause between two reads of the figures, in milliseconds. */
const FRESH_MS = 5_000;
/** The pause is also this many times as long as a read, so that reads cost at most a fiftieth of the ledger's time. */
const REST_SHARE = 50;
/** The longest wait of a scrape, in milliseconds; the scrape then gets the previous figures. */
const SCRAPE_PATIENCE_MS = 2_000;
const LOOK_BACK_MS = 24 * 60 * 60 * 1_000;
/** Held and doubtful invoices count for two weeks, over a weekend and holidays: then an operator knows of them. */
const LEFT_LOOK_BACK_MS = 14 * LOOK_BACK_MS;
const MOST_BATCHES = 100;

/** Figures of the ledger at one time. */
type LedgerSnapshot = Awaited<ReturnType<typeof readFigures>>;

/** The ledger and the service of the figures. */
export interface LedgerSource {
  readonly ledger: Pick<Ledger, 'countBatches' | 'measuredBatches' | 'measureInvoices' | 'measureDoubt' | 'breaker'>;
  readonly application: string;
  /** The base address of the service; null while it is not known. */
  readonly baseUrl: () => string | null;
}

/**
 * Makes a function that reads the ledger's figures at a bounded cost. It resolves to null until a read succeeds.
 * `source` returns null while the ledger is not open, `now` epoch milliseconds.
 */
export function createLedgerSnapshot(
  source: () => LedgerSource | null,
  now: () => number = Date.now,
): () => Promise<LedgerSnapshot | null> {
  let taken: LedgerSnapshot | null = null;
  let restUntil = Number.NEGATIVE_INFINITY;
  const read = sharedAnswer(async () => {
    const began = performance.now();
    const from = source();
    const found = from === null ? null : await readFigures(from, now()).catch(() => null);
    // If the ledger is unreachable, the age of the last figures shows it.
    if (found !== null) taken = found;
    const took = performance.now() - began;
    restUntil = began + took + Math.max(FRESH_MS, REST_SHARE * took);
  });

  return async () => {
    if (performance.now() >= restUntil)
      await Promise.race([read(), sleep(SCRAPE_PATIENCE_MS, undefined, { ref: false })]);
    return taken;
  };
}

async function readFigures({ ledger, application, baseUrl }: LedgerSource, at: number) {
  const service = baseUrl();
  // Null if this process knows no service.
  const breakerOpen = service === null ? null : (await ledger.breaker(service)) !== null;
  const batches = await ledger.countBatches(application);
  const chosen = await ledger.measuredBatches(application, {
    closedSince: at - LOOK_BACK_MS,
    heldSince: at - LEFT_LOOK_BACK_MS,
    limit: MOST_BATCHES,
  });
  // Issued invoices that may exist twice, or that the service later reported as failed.
  const inDoubt = await ledger.measureDoubt(application, { since: at - LEFT_LOOK_BACK_MS });
  const states: MeasuredState[] = [];
  // Lote reads one batch after the other: the embedded ledger has one connection, for which other queries wait.
  // oxlint-disable-next-line no-await-in-loop
  for (const { batchId } of chosen) states.push(...(await ledger.measureInvoices(batchId)));
  const invoices = new Map<Outcome, number>();
  for (const one of states) invoices.set(one.state, (invoices.get(one.state) ?? 0) + one.invoices);
  // The oldest POST without a final word, in epoch milliseconds; null if no invoice waits for one.
  const oldest = states.map(({ oldestAt }) => oldestAt).filter((time) => time !== null);
  const oldestAt = oldest.length === 0 ? null : Math.min(...oldest);
  return { at, batches, invoices, inDoubt, oldestAt, breakerOpen };
}
