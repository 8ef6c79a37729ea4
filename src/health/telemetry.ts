import type { WorkerOptions } from '@temporalio/worker';
import type { Ledger } from '../ledger/ledger.ts';
import type { MeasureRequest, MeasureStatement } from '../domain/records/measures.ts';
import type { RunLog } from '../nightly/run-log.ts';
import type { DeliveryCounts } from '../webhooks/handle-delivery.ts';

/** What a Temporal worker is started with. */
export interface WorkerTelemetry {
  /** Told at which loopback address the SDK serves its own metrics; null: it need not. */
  readonly onSdkMetrics: ((address: string) => void) | null;
  /** Left out: activities are not traced. */
  readonly interceptors?: WorkerOptions['interceptors'] | undefined;
}

/** What a process measures of itself. Nothing here may fail or delay what it observes. */
export interface Telemetry {
  /** Undefined: nothing is measured. */
  readonly onStatement: MeasureStatement | undefined;
  /** Undefined: nothing is measured. */
  readonly onRequest: MeasureRequest | undefined;
  /** The ledger whose figures are served. */
  readsFrom(ledger: Ledger): void;
  /** Base address of the service whose circuit breaker is served. */
  sendsTo(baseUrl: string): void;
  nights(log: RunLog): RunLog;
  deliveries(totals: () => Readonly<DeliveryCounts>): void;
  readonly worker: WorkerTelemetry;
  /** Where the metrics are served; null: nowhere. */
  readonly url: string | null;
  close(): Promise<void>;
}

/** What every process has that is told neither METRICS_PORT nor OTEL_EXPORTER_OTLP_ENDPOINT. */
export const NO_TELEMETRY: Telemetry = {
  onStatement: undefined,
  onRequest: undefined,
  readsFrom: () => undefined,
  sendsTo: () => undefined,
  nights: (log) => log,
  deliveries: () => undefined,
  worker: { onSdkMetrics: null },
  url: null,
  close: async () => undefined,
};
