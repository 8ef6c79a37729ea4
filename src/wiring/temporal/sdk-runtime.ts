import { DefaultLogger, IllegalStateError, Runtime, type LogMetadata, type TelemetryOptions } from '@temporalio/worker';
import { choosePort } from '../../runtime/process/free-port.ts';
import type { WorkerTelemetry } from '../../telemetry/telemetry.ts';

const LOOPBACK = '127.0.0.1';
/** Between the choice of a free port and its use another program may take it. */
const TRIES = 3;

/**
 * The SDK's own log goes to ours, errors only: core repeats a line for each retried call. Once per process, and only in
 * one that has a worker: the runtime keeps a process alive until its last worker ends. Its metrics are served on a free
 * loopback port when they are wanted.
 */
export async function installSdkRuntime(
  log: { error(message: string, fields?: Record<string, unknown>): void },
  { onSdkMetrics }: WorkerTelemetry,
): Promise<void> {
  for (let left = TRIES; ; left -= 1) {
    const address =
      onSdkMetrics === null
        ? null
        : // oxlint-disable-next-line no-await-in-loop -- one try after the other
          `${LOOPBACK}:${await choosePort({ host: LOOPBACK, port: 0, explicit: false, variable: 'METRICS_PORT' })}`;
    try {
      Runtime.install({
        logger: new DefaultLogger('ERROR', ({ message, meta }) =>
          log.error('temporal sdk', { message, ...causeOf(meta) }),
        ),
        // The process decides what a signal does: the SDK would stop the worker alone, and the process would stay without one.
        shutdownSignals: [],
        telemetryOptions: {
          logging: { filter: { core: 'ERROR', other: 'ERROR' }, forward: {} },
          ...(address !== null && { metrics: sdkMetrics(address) }),
        },
      });
      if (address !== null) onSdkMetrics?.(address);
      return;
    } catch (error) {
      // A second worker of one process shares the runtime of the first.
      if (error instanceof IllegalStateError) return;
      if (address === null || left <= 1) throw error;
    }
  }
}

/** Why: without it, the SDK's line about a worker that failed says no more than that. */
function causeOf(meta: LogMetadata | undefined): { readonly err?: Error } {
  return meta?.['error'] instanceof Error ? { err: meta['error'] } : {};
}

/** Named as Prometheus wants it: seconds, units and `_total` in the names. */
function sdkMetrics(bindAddress: string): NonNullable<TelemetryOptions['metrics']> {
  return {
    attachServiceName: false,
    prometheus: { bindAddress, countersTotalSuffix: true, unitSuffix: true, useSecondsForDurations: true },
  };
}
