import type { WorkerOptions } from '@temporalio/worker';
import type { Ledger } from '../ledger/ledger.ts';
import type { MeasureRequest, MeasureStatement } from '../domain/records/measures.ts';
import type { RunLog } from '../nightly/run-log.ts';
import type { DeliveryCounts } from '../webhooks/handle-delivery.ts';

/** The telemetry options of a Temporal worker. */
export interface WorkerTelemetry {
  /** Called with the loopback address of the SDK's own metrics; null if the SDK need not serve them. */
  readonly onSdkMetrics: ((address: string) => void) | null;
  /** Optional: traces activities. */
  readonly interceptors?: WorkerOptions['interceptors'] | undefined;
}

/** The measurements of a process. They must neither fail nor delay the observed work. */
export interface Telemetry {
  /** Undefined if Lote does not measure statements. */
  readonly onStatement: MeasureStatement | undefined;
  /** Undefined if Lote does not measure requests. */
  readonly onRequest: MeasureRequest | undefined;
  /** Sets the ledger whose figures are served. */
  readsFrom(ledger: Ledger): void;
  /** Sets the base address of the service whose circuit breaker is served. */
  sendsTo(baseUrl: string): void;
  nights(log: RunLog): RunLog;
  deliveries(totals: () => Readonly<DeliveryCounts>): void;
  readonly worker: WorkerTelemetry;
  readonly url: string | null;
}

/** The telemetry of a process without METRICS_PORT and OTEL_EXPORTER_OTLP_ENDPOINT. */
export const NO_TELEMETRY: Telemetry = {
  onStatement: undefined,
  onRequest: undefined,
  readsFrom: () => undefined,
  sendsTo: () => undefined,
  nights: (log) => log,
  deliveries: () => undefined,
  worker: { onSdkMetrics: null },
  url: null,
};
