import { setTimeout as sleep } from 'node:timers/promises';
import type { AnswerWatch } from '../../../activities/profile-fit/answer-watch.ts';
import type { InvoicingService } from '../../domain/ports/invoicing-service.ts';
import { createCommonFolders, type CommonFolders } from '../reports/common-folders.ts';
import type { ConnectedTemporal } from '../temporal/embedded-temporal.ts';
import { workerScope, queuePollers, deregisterWorker } from '../temporal/queue-pollers.ts';
import { ensureReconciliationSchedule } from '../temporal/reconciliation-schedule.ts';
import { requireOwnQueue } from '../temporal/require-own-queue.ts';
import { watchSharedPatches } from '../temporal/shared-patches.ts';
import { ensureSearchAttributes } from '../temporal/search-attributes.ts';
import { watchTemporal } from '../temporal/watch-temporal.ts';
import { activityDeps } from './activity-deps.ts';
import type { EmbeddedCore } from './embedded-core.ts';
import { startWorker, type RunningWorker, type WorkerPlace } from './start-worker.ts';
import { watchStuckBatches } from './worker-health.ts';

export interface EmbeddedWorkerOptions {
  readonly service: InvoicingService;
  /** The one of this process. */
  readonly watch: AnswerWatch;
  /** See `requireKnownService` and `SendingGuard`. */
  readonly requireAccount: () => Promise<unknown>;
  readonly temporal: ConnectedTemporal;
  /** The address to register for webhooks; null: none. */
  readonly webhookUrl: string | null;
  readonly consoleUrl: () => string | null;
}

export interface EmbeddedWorker {
  readonly worker: RunningWorker;
  /** Null: this process shares folders with nobody. */
  readonly folders: CommonFolders | null;
}

/** The worker on a task queue that no other ledger uses, the reconciliation schedule, and the watches over both. */
export async function startEmbeddedWorker(core: EmbeddedCore, options: EmbeddedWorkerOptions): Promise<EmbeddedWorker> {
  const { config, profile, ledger, crash, telemetry, parts, notify, log } = core;
  const { service, watch, requireAccount, temporal, webhookUrl, consoleUrl } = options;
  const { client } = temporal;
  const { taskQueue, application } = config;
  const pollers = () => queuePollers(client, taskQueue);
  notify('Starting the worker …');
  await requireOwnQueue({
    taskQueue,
    scope: workerScope(ledger.id, application),
    pollers,
    pause: (ms) => sleep(ms),
    notify,
  });
  const folders = createCommonFolders({ config, ledger, log });
  await folders?.join();
  const deps = activityDeps({
    ...{ config, ledger, folders, service, profile, watch, client, requireAccount, webhookUrl, consoleUrl, crash, log },
    telemetry,
    searchable: await ensureSearchAttributes(client, log),
  });
  const worker = await startWorker(deps, {
    telemetry: telemetry.worker,
    temporal: temporal.place,
    namespace: config.temporal.namespace,
    taskQueue,
    // A server of our own has no other worker, and leaves with this one.
    ...(config.temporal.address === null ? {} : await besideOthers()),
  });
  parts.add('worker', () => worker.stop());
  await ensureReconciliationSchedule(client, config, log);
  const stuck = watchStuckBatches({ ledger, client, application, telemetry, log });
  parts.add('watch of stuck batches', () => stuck.stop());
  const temporalWatch = watchTemporal(client, temporal.place.address, log);
  parts.add('watch of temporal', () => temporalWatch.stop());
  return { worker, folders };

  async function besideOthers(): Promise<Pick<WorkerPlace, 'deregister' | 'sharedPatches'>> {
    const sharedPatches = await watchSharedPatches({ pollers, log });
    parts.add('watch of patches', () => sharedPatches.stop());
    return { sharedPatches, deregister: (identity) => deregisterWorker(client, taskQueue, identity) };
  }
}
