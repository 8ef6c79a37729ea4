import { OUTCOMES } from '../../domain/invoice-state.ts';
import type { BatchState } from '../../domain/ports/ledger/batch-record.ts';
import type { NightlyVerdict } from '../../domain/ports/run-log.ts';
import { REQUEST_OUTCOMES, SERVICE_OPERATIONS } from '../../domain/ports/measures.ts';

/** One metric. A label has the values that are listed, or at most so many; every other value becomes `other`. */
export interface Metric {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: Readonly<Record<string, readonly string[] | number>>;
  /** It has the label `application`, too, where there are several. */
  readonly isPerApplication?: boolean;
  /** Upper bounds, of a histogram. */
  readonly buckets?: readonly number[];
}

const BATCH_STATES: readonly BatchState[] = ['staging', 'refused', 'running', 'paused', 'cancelled', 'finished'];
/** What becomes of a file of a nightly run. */
export const VERDICTS: readonly NightlyVerdict[] = ['issued', 'attention', 'refused', 'failed'];
const ANSWERS = [
  ...['created', 'refused', 'not-now', 'not-permitted', 'lost', 'key-mismatch', 'access-denied'],
  ...['issued', 'failed', 'processing', 'unreadable', 'list', 'registered'],
];
const ROLES = ['embedded', 'worker', 'receiver', 'console'];

const REQUEST_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const STATEMENT_SECONDS = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10];
const LAG_SECONDS = [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600];

/** Names of statements and reasons of refusals are words of the code: more than this many means a mistake. */
const MOST_STATEMENTS = 200;
const MOST_REASONS = 20;

function counter(help: string, labels: Metric['labels'] = {}): Metric {
  return { kind: 'counter', help, labels };
}

function gauge(help: string, labels: Metric['labels'] = {}): Metric {
  return { kind: 'gauge', help, labels };
}

function histogram(help: string, buckets: readonly number[], labels: Metric['labels']): Metric {
  return { kind: 'histogram', help, buckets, labels };
}

/** Each application has its own, where there are several: an alarm must say which client it is about. */
function perApplication<One extends Metric>(metric: One): One & { readonly isPerApplication: true } {
  return { ...metric, isPerApplication: true };
}

/** Every metric of Lote itself, by name. `docs/operations/metrics.md` explains them; a test compares the two. */
export const CATALOGUE = {
  lote_build_info: gauge('1; what this process is.', { version: 1, role: ROLES }),
  lote_invoices: perApplication(
    gauge('Invoices by state, of open batches, of those closed in the last 24 h, and of those left open.', {
      state: OUTCOMES,
    }),
  ),
  lote_invoices_in_doubt: perApplication(
    gauge(
      'Issued invoices that may exist twice, or were called failed later, of open batches and of the last 14 days.',
    ),
  ),
  lote_batches: perApplication(gauge('Batches by state.', { state: BATCH_STATES })),
  lote_stuck_batches: gauge('Batches whose workflow tasks fail again and again.'),
  lote_oldest_unsettled_seconds: perApplication(
    gauge('Age of the oldest invoice without a final word, since its POST; 0: none.'),
  ),
  lote_circuit_breaker_open: perApplication(
    gauge('1: nothing is sent, for the circuit breaker is open; 0: it is closed.'),
  ),
  lote_ledger_snapshot_age_seconds: perApplication(gauge('Age of the figures that were read from the ledger.')),
  lote_service_request_duration_seconds: histogram('From leaving to the end of the answer.', REQUEST_SECONDS, {
    operation: SERVICE_OPERATIONS,
    outcome: REQUEST_OUTCOMES,
  }),
  lote_service_permit_wait_seconds: histogram('Wait of a request for its permit.', REQUEST_SECONDS, {
    operation: SERVICE_OPERATIONS,
  }),
  lote_service_answers_total: counter('What the answers of the service mean.', {
    operation: SERVICE_OPERATIONS,
    answer: ANSWERS,
  }),
  lote_service_requests_in_flight: gauge('Requests on the wire.'),
  lote_service_permits: perApplication(gauge('Requests that this process may have on the wire at once.')),
  lote_service_rate_limit: perApplication(gauge('Requests a second that may leave now; absent: as many as come.')),
  lote_service_hold_seconds: perApplication(gauge('For how long the service has asked to wait; 0: it has not.')),
  lote_repeated_posts_total: counter('POSTs of invoices that repeated an earlier one of the same key.'),
  lote_deliveries_taken_total: counter('Deliveries committed in the ledger.'),
  lote_deliveries_without_event_total: counter('Of those taken: with an event that cannot be read.'),
  lote_deliveries_not_stored_total: counter('Proven deliveries whose sender was asked to come again.'),
  lote_deliveries_refused_total: counter('Deliveries that were refused.', { reason: MOST_REASONS }),
  lote_final_word_lag_seconds: histogram('From acceptance to the final word, of a sample.', LAG_SECONDS, {
    state: ['issued', 'failed'],
  }),
  lote_ledger_statement_duration_seconds: histogram('From asking to answer.', STATEMENT_SECONDS, {
    statement: MOST_STATEMENTS,
  }),
  lote_ledger_statement_failures_total: counter('Statements and transactions that failed.'),
  lote_nightly_files_total: perApplication(
    counter('Files of nightly runs by what became of them.', { verdict: VERDICTS }),
  ),
  lote_nightly_runs_total: perApplication(counter('Nightly runs that this process has ended.')),
  lote_nightly_last_finished_timestamp_seconds: perApplication(gauge('When this process last ended a nightly run.')),
  lote_temporal_sdk_metrics_up: gauge('1: the metrics of the Temporal SDK are part of this answer.'),
  process_cpu_seconds_total: counter('CPU of this process, user and system.'),
  process_resident_memory_bytes: gauge('Memory of this process.'),
  process_start_time_seconds: gauge('Start of this process, Unix time.'),
  nodejs_event_loop_utilization: gauge('Share of the time since the last scrape in which the event loop was busy.'),
} as const satisfies Readonly<Record<string, Metric>>;

/** Name of a metric of Lote itself. */
export type MetricName = keyof typeof CATALOGUE;
