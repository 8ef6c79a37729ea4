import { LoteError } from '../../domain/errors.ts';
import type { Readiness } from '../../domain/ports/readiness.ts';
import type { Config } from '../../runtime/config/config.ts';
import type { Installation } from '../../runtime/config/installation.ts';
import { choosePort } from '../../runtime/process/free-port.ts';
import { startHealthServer } from '../../runtime/process/health-server.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import { leaveSoon } from '../../runtime/process/shutdown.ts';
import { startWatchedWorker } from '../worker/watched-worker.ts';
import { workerReadiness } from '../worker/worker-readiness.ts';
import { logMisfitsOf, openShared, orStop } from './distributed-process.ts';
import { startedParts, type StartedParts } from './stop-in-reverse.ts';

export interface DistributedWorker {
  /** Resolves when the worker has left; rejects when it died, or can reach Temporal no more. */
  readonly ended: Promise<void>;
  /** Where probes ask; null: nowhere (HEALTH_PORT=none). */
  readonly healthUrl: string | null;
  /** Where the metrics are served; null: nowhere. */
  readonly metricsUrl: string | null;
  stop(): Promise<void>;
}

/**
 * A worker on the shared ledger and the shared Temporal server: one process for all applications, and for each a service
 * and folders, and of several a queue of its own. For `onWork` see `WorkerPlace`.
 */
export async function startDistributedWorker(
  installation: Installation,
  log: Logger,
  onWork?: () => void,
): Promise<DistributedWorker> {
  const { common } = installation;
  const parts = startedParts(log);
  return orStop(parts, async () => {
    const { core, applications, client, place } = await openShared(installation, 'worker', { parts, log });
    const { worker, lost, folders } = await startWatchedWorker(core, {
      ...{ applications, temporal: { client, place } },
      webhookUrlOf: ({ webhook }) => webhook.url,
      consoleUrl: () => common.console.publicUrl,
      ...(onWork !== undefined && { onWork }),
      onForcedEnd: leaveSoon,
    });
    logMisfitsOf(applications, parts);
    const ready = workerReadiness({ ledger: core.opened, client, worker, folders });
    const healthUrl = await serveHealth(common, ready, parts);
    const ended = Promise.race([worker.ended, lost]);
    ended.catch(() => undefined);
    return { ended, healthUrl, metricsUrl: core.telemetry.url, stop: () => parts.stop() };
  });
}

async function serveHealth(
  { health }: Config,
  ready: () => Promise<Readiness>,
  parts: StartedParts,
): Promise<string | null> {
  if (health === null) return null;
  const { host, explicit } = health;
  const server = await startHealthServer({ host, port: await choosePort(health), ready }).catch((error: unknown) => {
    // Workers that start at once may choose the same free port: without a configured port, a worker takes any.
    if (explicit || !(error instanceof LoteError) || error.code !== 'port-taken') throw error;
    return startHealthServer({ host, port: 0, ready });
  });
  parts.add('health', () => server.close());
  return server.url;
}
