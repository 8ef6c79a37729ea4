import type { ApplicationMetrics, MetricsOptions } from './metrics/open-metrics.ts';
import type { TracesOptions } from './traces/open-traces.ts';
import { NO_TELEMETRY, type Telemetry } from './telemetry.ts';

export interface TelemetryOptions {
  /** null: nothing is measured. */
  readonly metrics: MetricsOptions | null;
  /** null: nothing is traced. */
  readonly traces: TracesOptions | null;
}

/**
 * Opens what is wanted of the telemetry, and loads no more than that.
 * @throws LoteError `port-taken`, `configuration-invalid`
 */
export async function openTelemetry({ metrics, traces }: TelemetryOptions): Promise<Telemetry> {
  const measuring = metrics === null ? null : await (await import('./metrics/open-metrics.ts')).openMetrics(metrics);
  const tracing = traces === null ? null : (await import('./traces/open-traces.ts')).openTraces(traces);
  const { onSdkMetrics, forApplication, ...measured } = measuring ?? NO_TELEMETRY_OF_METRICS;
  const telemetryOf = (own: ApplicationMetrics): Telemetry => ({
    ...{ ...measured, ...own },
    service: (service) => own.service(tracing?.service(service) ?? service),
    ofApplication: (application) => telemetryOf(forApplication(application)),
    worker: { onSdkMetrics, ...(tracing !== null && { interceptors: tracing.interceptors }) },
    async close() {
      await measured.close();
      await tracing?.close();
    },
  });
  return telemetryOf(measured);
}

const { worker: _worker, ofApplication: _ofApplication, ...NO_METRICS } = NO_TELEMETRY;
const NO_TELEMETRY_OF_METRICS = { ...NO_METRICS, onSdkMetrics: null, forApplication: () => NO_METRICS };
