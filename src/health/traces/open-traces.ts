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
import type { WorkerInterceptors } from '@temporalio/worker';

/** A collector answers in milliseconds; a process that ends waits no longer for an unreachable one. */
const EXPORT_TIMEOUT_MS = 3_000;

/** The collector and the process of the spans. */
interface TracesOptions {
  /** The address of an OTLP collector over HTTP, without a path. */
  readonly endpoint: string;
  readonly version: string;
  readonly role: string;
  readonly log: { warn(message: string, fields?: Record<string, unknown>): void };
}

/**
 * Sends a span for each activity to a collector, by Temporal's interceptor. Spans wait in a bounded queue, which drops
 * the spans that do not fit; no activity waits for them. The spans contain no text of an error.
 */
export function openTraces({ endpoint, version, role, log }: TracesOptions) {
  const exporter = new OTLPTraceExporter({ url: `${endpoint}/v1/traces`, timeoutMillis: EXPORT_TIMEOUT_MS });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': `lote-${role}`, 'service.version': version }),
    sampler: new AlwaysOnSampler(),
    spanProcessors: [new BatchSpanProcessor({ exporter: complaining(exporter, { log, endpoint }) })],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const tracer: Tracer = provider.getTracer('lote');
  const interceptors: WorkerInterceptors = {
    activity: [(activity) => ({ inbound: new OpenTelemetryActivityInboundInterceptor(activity, { tracer }) })],
  };
  return {
    interceptors,
    async close(): Promise<void> {
      await provider.shutdown().catch(() => undefined);
      context.disable();
    },
  };
}

/** Sends spans without error texts. Logs a failed export without its message, which may hold the collector's answer. */
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
 * Keeps the failed status of a span, but removes the message and stack of the error that Temporal's interceptor adds:
 * they may hold a name, a tax number or an address of the database.
 */
function withoutTexts(span: ReadableSpan): ReadableSpan {
  return Object.create(span, { events: { value: [] }, status: { value: { code: span.status.code } } }) as ReadableSpan;
}
