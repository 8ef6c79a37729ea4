import { randomBytes } from 'node:crypto';
import {
  NativeConnection,
  Worker,
  DefaultLogger,
  IllegalStateError,
  Runtime,
  type WorkerOptions,
} from '@temporalio/worker';
import type { ActivityDeps } from '../../../activities/deps.ts';
import { HEARTBEAT_MS } from '../../../activities/failure.ts';
import { createActivities } from '../../../activities/index.ts';
import { buildQueue } from '../../domain/messages/batch-id.ts';
import { notConnected, type TemporalPlace } from '../temporal/temporal-connection.ts';
import { NO_TELEMETRY, type WorkerTelemetry } from '../../health/telemetry.ts';
import { requireOwnQueue, workerIdentity, workerScope } from '../temporal/queue-pollers.ts';
import { createCommonFolders } from '../folders/common-folders.ts';
import type { ConnectedTemporal } from '../temporal/temporal-server.ts';
import { repeat } from '../../platform/repeat.ts';
import { restartLeftRuns } from '../temporal/left-runs.ts';
import { ensureReconciliationSchedule } from '../schedules/reconciliation-schedule.ts';
import { ensureSearchAttributes } from '../temporal/search-attributes.ts';
import { workerReadiness } from '../start/readiness.ts';
import { activityDeps, type WorkerParts } from './activity-deps.ts';
import { requireClock } from '../account/open-ledger.ts';
import type { OpenApplication } from '../start/open-application.ts';
import { workflowBundle } from './workflow-bundle.ts';
import { choosePort } from '../process/free-port.ts';

/**
 * A stop cancels activities at once, so they send, poll and wait no more, but a POST on the wire must be allowed to
 * end. After this time the process leaves anyway, and Lote repeats what was on the wire with the same key and bytes.
 */
const FORCE = '45s' as const;
/** Four pages of one batch send two slices each; the rest is for other batches, reports, reviews and reading. */
const ACTIVITIES_AT_ONCE = 24;

/** Place and callbacks of a worker. */
export interface WorkerPlace {
  readonly temporal: TemporalPlace;
  readonly namespace: string;
  readonly taskQueue: string;
  /** Path of an existing bundle; default: see workflow-bundle.ts. */
  readonly workflowBundle?: string | undefined;
  /** Called just before the worker polls: from then on the process has work that must end in order. */
  readonly onWork?: (() => void) | undefined;
  /** Called when slices did not end in time, so that the process must leave without them. */
  readonly onForcedEnd?: (() => void) | undefined;
  /** If omitted, Lote measures and traces nothing. */
  readonly telemetry?: WorkerTelemetry;
}

/** A worker that polls its task queue. */
export type RunningWorker = Awaited<ReturnType<typeof startWorker>>;

/** Starts a worker for the product's workflows and activities. Its identity names its ledger and application. */
export async function startWorker(deps: ActivityDeps, place: WorkerPlace) {
  const telemetry = place.telemetry ?? NO_TELEMETRY.worker;
  const { bundle, build } = await workflowBundle(place.workflowBundle);
  const own = randomBytes(4).toString('hex');
  const identity = workerIdentity(workerScope(deps.ledger.id, deps), { pid: process.pid, own, build });
  const connection = await connectWorker(deps, place);
  const create = (options: WorkerOptions): Promise<Worker> =>
    Worker.create({
      connection,
      namespace: place.namespace,
      identity,
      workflowBundle: bundle,
      shutdownForceTime: FORCE,
      ...options,
    }).catch(async (error: unknown) => {
      await connection.close();
      throw error;
    });
  const worker = await create({
    taskQueue: buildQueue(place.taskQueue, build),
    activities: createActivities(deps),
    shutdownGraceTime: 0,
    // A heartbeat tells a slice that its run was terminated; by default the SDK delays it for most of its time-out.
    maxHeartbeatThrottleInterval: HEARTBEAT_MS,
    maxConcurrentActivityTaskExecutions: ACTIVITIES_AT_ONCE,
    ...(telemetry.interceptors !== undefined && { interceptors: telemetry.interceptors }),
  });
  // This worker only moves new runs to the queue of this build (workflows/pin-build.ts), and caches none of them.
  const entry = await create({
    taskQueue: place.taskQueue,
    maxCachedWorkflows: 0,
    maxConcurrentWorkflowTaskExecutions: 2,
  });
  place.onWork?.();
  const ended = runToTheEnd([worker, entry], connection);
  // The caller learns of the worker's end from `ended`; a rejection before that must not end the process.
  ended.catch(() => undefined);
  return {
    /** Resolves when the worker has left; rejects when it has died. */
    ended,
    identity,
    /** Queue for the runs of its build. */
    queue: worker.options.taskQueue,
    /** Returns false while the worker stops, and after that. */
    isRunning: (): boolean => worker.getState() === 'RUNNING' && entry.getState() === 'RUNNING',
    async stop(): Promise<void> {
      const wasRunning = worker.getState() === 'RUNNING';
      stopAll([worker, entry]);
      try {
        await ended;
      } catch (error) {
        // The SDK keeps unfinished slices, and with them the process.
        if (wasRunning) {
          const status = worker.getStatus();
          const left = {
            activities: status.numInFlightActivities,
            workflowTasks: status.numInFlightWorkflowActivations,
          };
          deps.log.warn('a worker gave up work that did not end in time', { left: [left] });
          place.onForcedEnd?.();
        }
        throw error;
      }
    },
  };
}

/** The SDK's connection keeps the process alive, so only the workers may fail after it. @throws LoteError `temporal-unavailable` */
async function connectWorker({ log }: ActivityDeps, { temporal, telemetry }: WorkerPlace): Promise<NativeConnection> {
  await installSdkRuntime(log, telemetry ?? NO_TELEMETRY.worker);
  return NativeConnection.connect(temporal).catch((cause: unknown) => {
    throw notConnected(temporal, 'while the worker starts', cause);
  });
}

/** Neither worker can work without the other, so both end when one ends. */
async function runToTheEnd(workers: readonly Worker[], connection: NativeConnection): Promise<void> {
  try {
    const ends = workers.map((worker) => worker.run().finally(() => stopAll(workers)));
    const [failed] = (await Promise.allSettled(ends)).filter((end) => end.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  } finally {
    await connection.close();
  }
}

function stopAll(workers: readonly Worker[]): void {
  for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
}

const LOOPBACK = '127.0.0.1';

/**
 * Sends the SDK's log to Lote's, errors only, because core repeats a line for each retried call. Runs once per process,
 * and only with a worker: the runtime keeps a process alive until its last worker ends. If wanted, serves the SDK's
 * metrics on a free loopback port.
 */
async function installSdkRuntime(
  log: { error(message: string, fields?: Record<string, unknown>): void },
  { onSdkMetrics }: WorkerTelemetry,
): Promise<void> {
  const any = { host: LOOPBACK, port: 0, explicit: false, variable: 'METRICS_PORT' };
  const address = onSdkMetrics === null ? null : `${LOOPBACK}:${await choosePort(any)}`;
  try {
    Runtime.install({
      // The SDK's line about a failed worker names no cause.
      logger: new DefaultLogger('ERROR', ({ message, meta }) =>
        log.error('temporal sdk', { message, err: meta?.['error'] }),
      ),
      // The process handles signals: the SDK would stop only the worker, and leave the process without one.
      shutdownSignals: [],
      telemetryOptions: {
        logging: { filter: { core: 'ERROR', other: 'ERROR' }, forward: {} },
        ...(address !== null && {
          metrics: { attachServiceName: false, prometheus: { bindAddress: address, ...METRIC_NAMES } },
        }),
      },
    });
    if (address !== null) onSdkMetrics?.(address);
  } catch (error) {
    // A second worker of one process shares the runtime of the first.
    if (!(error instanceof IllegalStateError)) throw error;
  }
}

/** Prometheus metric names: seconds, units and `_total`. */
const METRIC_NAMES = { countersTotalSuffix: true, unitSuffix: true, useSecondsForDurations: true };

const LEFT_RUNS_EVERY_MS = 30_000;

/** A worker with its common folders, which are null if this process shares its folders with no other process. */
export type OpenWorker = Awaited<ReturnType<typeof openWorker>>;

/**
 * Starts a worker on a task queue that no other ledger uses, the reconciliation schedule, and their watches. The worker
 * polls last, so that nothing delays a process with work in hand when it is told to leave.
 */
export async function openWorker(
  application: OpenApplication,
  temporal: Pick<ConnectedTemporal, 'client' | 'place'> & Pick<WorkerParts, 'webhookUrl' | 'consoleUrl'>,
) {
  const { config, ledger, sending, parts, notify, log, onLost } = application;
  const { client, webhookUrl, consoleUrl } = temporal;
  const { taskQueue } = config;
  notify('Starting the worker …');
  await requireClock(ledger);
  await requireOwnQueue(client, taskQueue, workerScope(ledger.id, config));
  const searchable = await ensureSearchAttributes(client, log);
  const folders = createCommonFolders({ config, ledger, log });
  await folders?.join();
  await ensureReconciliationSchedule(client, config, log);
  const deps = activityDeps({
    ...{ ...application, client, folders, searchable, webhookUrl, consoleUrl },
    latestNow: () => application.time.latestNow(),
    async requireAccount() {
      // An embedded ledger uses this machine's clock.
      if (config.databaseUrl !== null) await requireClock(ledger);
      await application.requireAccount();
    },
    noteSends: async (sends) => sending?.note(sends),
  });
  const { namespace } = config.temporal;
  const telemetry = application.telemetry.worker;
  const worker = await startWorker(deps, { ...application, temporal: temporal.place, namespace, taskQueue, telemetry });
  // A worker that ends by itself has died, and the process cannot work without it.
  worker.ended.catch(onLost);
  const runs = { client, taskQueue, application: config.application, ledger, log };
  const isShared = config.temporal.address !== null;
  if (isShared) parts.add('runs of its build', () => restartLeftRuns(runs, { leaving: worker.identity }));
  parts.addToTheEnd('worker', () => worker.stop());
  const which = isShared ? {} : { onlyWorker: worker.queue };
  const watch = repeat(LEFT_RUNS_EVERY_MS, async () => void (await restartLeftRuns(runs, which)));
  parts.add('watch of runs', () => watch.stop());
  return { worker, folders, ready: workerReadiness({ ledger, client, worker, folders }) };
}
