import { createCommonFolders, type CommonFolders } from '../folders/common-folders.ts';
import type { ConnectedTemporal } from '../temporal/temporal-server.ts';
import { repeat } from '../../platform/repeat.ts';
import { restartLeftRuns } from '../temporal/left-runs.ts';
import { requireOwnQueue, workerScope } from '../temporal/queue-pollers.ts';
import { ensureReconciliationSchedule } from '../schedules/reconciliation-schedule.ts';
import { ensureSearchAttributes } from '../temporal/search-attributes.ts';
import { activityDeps } from './activity-deps.ts';
import { requireClock } from './require-clock.ts';
import type { OpenApplication } from '../start/open-application.ts';
import { startWorker, type RunningWorker } from './start-worker.ts';

const LEFT_RUNS_EVERY_MS = 30_000;

export interface WatchedWorkerOptions {
  readonly temporal: Pick<ConnectedTemporal, 'client' | 'place'>;
  /** The address to register for webhooks; null: none. */
  readonly webhookUrl: string | null;
  readonly consoleUrl: () => string | null;
}

/** A worker, and what watches over it. */
export interface WatchedWorker {
  readonly worker: RunningWorker;
  /** Null: this process shares its folders with no other process. */
  readonly folders: CommonFolders | null;
}

/**
 * The worker on a task queue that no other ledger uses, the schedule of reconciliation, and the watches over all. The
 * worker polls last: a process that has work in hand waits for nothing more before it can be told to leave.
 */
export async function startWatchedWorker(
  { core, service, calibration, requireAccount, time }: OpenApplication,
  { temporal, webhookUrl, consoleUrl }: WatchedWorkerOptions,
): Promise<WatchedWorker> {
  const { config, profile, ledger, sending, telemetry, parts, notify, log, onWork, onForcedEnd } = core;
  const { client } = temporal;
  const { taskQueue } = config;
  notify('Starting the worker …');
  await requireClock(ledger);
  await requireOwnQueue(client, taskQueue, workerScope(ledger.id, config));
  const searchable = await ensureSearchAttributes(client, log);
  const folders = createCommonFolders({ config, ledger, log });
  await folders?.join();
  const deps = activityDeps({
    ...{ config, ledger, folders, service, profile, calibration, telemetry, log, searchable },
    ...{ client, webhookUrl, consoleUrl },
    latestNow: () => time.latestNow(),
    async requireAccount() {
      // An embedded ledger goes by the clock of this machine.
      if (config.databaseUrl !== null) await requireClock(ledger);
      await requireAccount();
    },
    noteSends: async (sends) => sending?.note(sends),
  });
  await ensureReconciliationSchedule(client, config, log);
  const worker = await startWorker(deps, {
    ...{ telemetry: telemetry.worker, temporal: temporal.place, namespace: config.temporal.namespace, taskQueue },
    ...{ onWork, onForcedEnd },
  });
  const runs = { client, taskQueue, application: config.application, ledger, log };
  const isShared = config.temporal.address !== null;
  if (isShared) parts.add('runs of its build', () => restartLeftRuns(runs, { leaving: worker.identity }));
  parts.addToTheEnd('worker', () => worker.stop());
  const which = isShared ? {} : { onlyWorker: worker.queue };
  const watch = repeat(LEFT_RUNS_EVERY_MS, async () => void (await restartLeftRuns(runs, which)));
  parts.add('watch of runs', () => watch.stop());
  return { worker, folders };
}
