/** One metric of Lote itself. */
export interface Metric {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  /** Names of the labels. Their values are fixed in the code: no label may hold data. */
  readonly labels: readonly string[];
  /** True for a counter whose value is read at a scrape, like a gauge. */
  readonly isRead?: boolean;
  readonly buckets?: readonly number[];
}

const REQUEST_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const STATEMENT_SECONDS = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10];

function counter(help: string, ...labels: readonly string[]): Metric {
  return { kind: 'counter', help, labels };
}

/** Declares a counter that is counted elsewhere and read at a scrape. */
function readCounter(help: string, ...labels: readonly string[]): Metric {
  return { kind: 'counter', help, labels, isRead: true };
}

function gauge(help: string, ...labels: readonly string[]): Metric {
  return { kind: 'gauge', help, labels };
}

function histogram(help: string, buckets: readonly number[], ...labels: readonly string[]): Metric {
  return { kind: 'histogram', help, buckets, labels };
}

/** All metrics of Lote itself, by name. `docs/deployment.md#metrics` explains them; a test compares the two. */
export const CATALOGUE = {
  lote_build_info: gauge('1; what this process is.', 'version', 'role'),
  lote_invoices: gauge(
    'Invoices by state, of open batches, of those closed in the last 24 h, and of those left open.',
    'state',
  ),
  lote_invoices_in_doubt: gauge(
    'Issued invoices that may exist twice, or were called failed later, of open batches and of the last 14 days.',
  ),
  lote_batches: gauge('Batches by state.', 'state'),
  lote_oldest_unsettled_seconds: gauge('Age of the oldest invoice without a final word, since its POST; 0: none.'),
  lote_circuit_breaker_open: gauge('1: nothing is sent, for the circuit breaker is open; 0: it is closed.'),
  lote_ledger_snapshot_age_seconds: gauge('Age of the figures that were read from the ledger.'),
  lote_service_request_duration_seconds: histogram(
    'From leaving to the end of the answer.',
    REQUEST_SECONDS,
    'operation',
    'outcome',
  ),
  lote_service_permit_wait_seconds: histogram('Wait of a request for its permit.', REQUEST_SECONDS, 'operation'),
  lote_service_requests_in_flight: gauge('Requests on the wire.'),
  lote_deliveries_taken_total: readCounter('Deliveries committed in the ledger.'),
  lote_deliveries_without_event_total: readCounter('Of those taken: with an event that cannot be read.'),
  lote_deliveries_not_stored_total: readCounter('Proven deliveries whose sender was asked to come again.'),
  lote_deliveries_refused_total: readCounter('Deliveries that were refused.', 'reason'),
  lote_ledger_statement_duration_seconds: histogram('From asking to answer.', STATEMENT_SECONDS, 'statement'),
  lote_ledger_statement_failures_total: counter('Statements and transactions that failed.'),
  lote_nightly_files_total: counter('Files of nightly runs by what became of them.', 'verdict'),
  lote_nightly_runs_total: counter('Nightly runs that this process has ended.'),
  lote_nightly_last_finished_timestamp_seconds: gauge('When this process last ended a nightly run.'),
  process_cpu_seconds_total: readCounter('CPU of this process, user and system.'),
  process_resident_memory_bytes: gauge('Memory of this process.'),
  process_start_time_seconds: gauge('Start of this process, Unix time.'),
  nodejs_event_loop_utilization: gauge('Share of the time since the last scrape in which the event loop was busy.'),
} as const satisfies Readonly<Record<string, Metric>>;

/** The name of a metric of Lote itself. */
export type MetricName = keyof typeof CATALOGUE;
