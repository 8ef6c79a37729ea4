import type { Config } from '../../runtime/config/config.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import { startMetricsServer } from '../../runtime/process/metrics-server.ts';
import { NO_TELEMETRY, type Telemetry } from '../../telemetry/telemetry.ts';
import type { StartedParts } from './stop-in-reverse.ts';
import { VERSION } from '../../runtime/version.ts';

/** What a process of this role is measured with. */
export interface TelemetryParts {
  readonly config: Config;
  readonly role: 'embedded' | 'worker' | 'receiver' | 'console';
  /** To it the telemetry is added, to be closed last. */
  readonly parts: StartedParts;
  readonly log: Logger;
}

/**
 * The telemetry of this process. Without METRICS_PORT and OTEL_EXPORTER_OTLP_ENDPOINT it is none, and nothing of it is
 * loaded.
 * @throws LoteError `port-taken`, `configuration-invalid`
 */
export async function openProcessTelemetry({ config, role, parts, log }: TelemetryParts): Promise<Telemetry> {
  const { metrics, traces, application, serviceBaseUrl: baseUrl } = config;
  // Only workers send.
  const traced = role === 'worker' || role === 'embedded' ? traces : null;
  if (metrics === null && traced === null) return NO_TELEMETRY;
  const { openTelemetry } = await import('../../telemetry/open-telemetry.ts');
  const telemetry = await openTelemetry({
    metrics: metrics && {
      ...{ application, baseUrl, version: VERSION, role },
      serve: (text) => startMetricsServer({ ...metrics, text }),
    },
    traces: traced && { ...traced, version: VERSION, role, log },
  });
  parts.add('telemetry', () => telemetry.close());
  return telemetry;
}
