import { context, type Tracer } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  TracerProvider,
  type ReadableSpan,
  type SpanExporter,
} from '@opentelemetry/sdk-trace';
import { OpenTelemetryActivityInboundInterceptor } from '@temporalio/interceptors-opentelemetry/lib/worker/index.js';
import type { WorkerTelemetry } from '../telemetry.ts';

/** A collector takes milliseconds; the end of a process waits no longer for one that is away. */
const EXPORT_TIMEOUT_MS = 3_000;

/** Where spans go. */
export interface TracesOptions {
  /** Of an OTLP collector over HTTP, without a path. */
  readonly endpoint: string;
  readonly version: string;
  readonly role: string;
  readonly log: { warn(message: string, fields?: Record<string, unknown>): void };
}

/** The part of the telemetry that traces. */
export interface TracesTelemetry {
  close(): Promise<void>;
  readonly interceptors: NonNullable<WorkerTelemetry['interceptors']>;
}

/**
 * Sends a span for each activity to a collector, by Temporal's interceptor. Spans wait in a bounded queue; those that do not
 * fit are dropped, and nothing waits for them. No text of an error leaves.
 */
export function openTraces({ endpoint, version, role, log }: TracesOptions): TracesTelemetry {
  const exporter = new OTLPTraceExporter({ url: `${endpoint}/v1/traces`, timeoutMillis: EXPORT_TIMEOUT_MS });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': `lote-${role}`, 'service.version': version }),
    sampler: new AlwaysOnSampler(),
    spanProcessors: [new BatchSpanProcessor({ exporter: complaining(exporter, { log, endpoint }) })],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const tracer: Tracer = provider.getTracer('lote');
  return {
    interceptors: {
      activity: [(activity) => ({ inbound: new OpenTelemetryActivityInboundInterceptor(activity, { tracer }) })],
    },
    async close() {
      await provider.shutdown().catch(() => undefined);
      context.disable();
    },
  };
}

/** Sends spans without texts of errors, and tells of those that did not arrive, without the exporter's own words: they may hold the collector's answer. */
function complaining(exporter: SpanExporter, { log, endpoint }: Pick<TracesOptions, 'log' | 'endpoint'>): SpanExporter {
  return {
    export(spans, done) {
      exporter.export(spans.map(withoutTexts), (result) => {
        if (result.code !== 0) log.warn('traces cannot be sent to the collector', { endpoint });
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
}

/**
 * That a span failed is kept. Temporal's interceptor adds message and stack of the error, which may hold a name, a tax
 * number or an address of the database.
 */
function withoutTexts(span: ReadableSpan): ReadableSpan {
  return Object.create(span, { events: { value: [] }, status: { value: { code: span.status.code } } }) as ReadableSpan;
}
