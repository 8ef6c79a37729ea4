import type { WorkerOptions } from '@temporalio/worker';
import type { InvoicingService } from '../domain/ports/invoicing-service.ts';
import type { Ledger } from '../domain/ports/ledger/ledger.ts';
import type { MeasureRequest, MeasureStatement } from '../domain/ports/measures.ts';
import type { RunLog } from '../domain/ports/run-log.ts';

/** Limits of a process that shares them with no other. */
export interface LocalLimits {
  /** Requests that may be on the wire at once. */
  readonly permits: number;
  /** Requests a second that may leave now; null: as many as come. */
  readonly rate: () => number | null;
  /** The service has asked to wait until then, epoch milliseconds; 0: it has not. */
  readonly heldUntil: () => number;
}

interface Times {
  readonly times: number;
}

/** What became of deliveries since the receiver of this process started. */
export interface DeliveryTotals {
  readonly taken: Times;
  readonly withoutEvent: Times;
  readonly notStored: Times;
  readonly refused: Readonly<Record<string, Times>>;
}

/** What a Temporal worker is started with. */
export interface WorkerTelemetry {
  /** Told at which loopback address the SDK serves its own metrics; null: it need not. */
  readonly onSdkMetrics: ((address: string) => void) | null;
  /** Left out: activities are not traced. */
  readonly interceptors?: NonNullable<WorkerOptions['interceptors']>;
}

/**
 * What a process measures of itself. The wiring hands each part through it: the part comes back as it was, or with an
 * observer around it. Nothing here may fail or delay what it observes.
 */
export interface Telemetry {
  /** Undefined: nobody measures. */
  readonly onStatement: MeasureStatement | undefined;
  /** Undefined: nobody measures. */
  readonly onRequest: MeasureRequest | undefined;
  ledger(ledger: Ledger): Ledger;
  service(service: InvoicingService): InvoicingService;
  nights(log: RunLog): RunLog;
  limits(limits: LocalLimits): void;
  deliveries(totals: () => DeliveryTotals): void;
  /** The same for one of several applications: what is counted for each of them then names it. */
  ofApplication(application: string): Telemetry;
  /** Asked for the number of batches that cannot go on. */
  stuck(batches: () => number): void;
  readonly worker: WorkerTelemetry;
  /** Where the metrics are served; null: nowhere. */
  readonly url: string | null;
  close(): Promise<void>;
}

/** What every process has that is told neither METRICS_PORT nor OTEL_EXPORTER_OTLP_ENDPOINT. */
export const NO_TELEMETRY: Telemetry = {
  onStatement: undefined,
  onRequest: undefined,
  ledger: (ledger) => ledger,
  service: (service) => service,
  nights: (log) => log,
  limits: () => undefined,
  deliveries: () => undefined,
  ofApplication: () => NO_TELEMETRY,
  stuck: () => undefined,
  worker: { onSdkMetrics: null },
  url: null,
  close: async () => undefined,
};
