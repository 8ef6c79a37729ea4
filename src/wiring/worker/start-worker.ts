import { randomBytes } from 'node:crypto';
import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import type { ActivityDeps } from '../../../activities/deps.ts';
import { HEARTBEAT_MS } from '../../../activities/failure.ts';
import { createUnnamedActivities } from '../../../activities/unnamed-activities.ts';
import { createActivities } from '../../../activities/index.ts';
import { PROFILE_CONTRADICTION } from '../../domain/circuit-reasons.ts';
import { activityQueue } from '../../contract/activity-queue.ts';
import type { Ledger } from '../../domain/ports/ledger/ledger.ts';
import { notConnected, type TemporalPlace } from '../../runtime/temporal/temporal-connection.ts';
import { NO_TELEMETRY, type WorkerTelemetry } from '../../telemetry/telemetry.ts';
import { workerScope, workerIdentity } from '../temporal/queue-pollers.ts';
import { installSdkRuntime } from '../temporal/sdk-runtime.ts';
import type { SharedPatches } from '../temporal/shared-patches.ts';
import { VERSION } from '../../runtime/version.ts';
import { bundleDigest, workflowBundle } from './workflow-bundle.ts';

/**
 * Activities are cancelled at once: they send, poll and wait for nothing more, but a POST that is on the wire must be allowed to end. After this the
 * process leaves anyway; what was on the wire is repeated with the same key and bytes.
 */
const FORCE = '45s' as const;
/** Four pages send two slices each, of one batch; the rest is other batches, reports, reviews and reading. */
const ACTIVITIES_AT_ONCE = 24;
/** Of one application among several: with two hundred of them, ten polls each would be two thousand that wait. */
const POLLS_OF_ONE = 2;

/** Where a worker works, and with whom. */
export interface WorkerPlace {
  readonly temporal: TemporalPlace;
  readonly namespace: string;
  readonly taskQueue: string;
  /** See `profileMark`. */
  readonly profile: string | null;
  /** Notifies the other workers that this one has left; left out: there are no others. */
  readonly deregister?: (identity: string) => Promise<void>;
  /** Path of a bundle that was made before; left out: see workflow-bundle.ts. */
  readonly workflowBundle?: string;
  /** Which patches the other workers know too; left out: there are no others. */
  readonly sharedPatches?: Pick<SharedPatches, 'isShared'>;
  /** Called when the worker is about to poll: from then on the process has work in hand, which must end in order. */
  readonly onWork?: () => void;
  /** Called when slices did not end in time: the process must leave without them. */
  readonly onForcedEnd?: () => void;
  /** Left out: nothing is measured or traced. */
  readonly telemetry?: WorkerTelemetry;
}

/** A worker that polls its task queue. */
export interface RunningWorker {
  /** Resolves when the worker has left; rejects when it died. */
  readonly ended: Promise<void>;
  /** False while it stops, and after that. */
  isRunning(): boolean;
  stop(): Promise<void>;
}

/** Starts a worker for the product's workflows and activities. Its identity names its ledger and application. */
export async function startWorker(deps: ActivityDeps, place: WorkerPlace): Promise<RunningWorker> {
  await endLastingStop(deps);
  return run(deps, place, (open) => open.forWorkflows(createActivities(deps)));
}

/**
 * Starts the worker of several applications: one for the workflows of all, and for the activities of each one of its
 * own, on its own task queue. So no activity can reach another application's key, and none waits behind another's.
 */
export async function startWorkerOfSeveral(
  applications: readonly [ActivityDeps, ...ActivityDeps[]],
  ledger: Pick<Ledger, 'findBatch'>,
  place: WorkerPlace,
): Promise<RunningWorker> {
  const [first] = applications;
  await Promise.all(applications.map(endLastingStop));
  return run(first, place, async (open) => {
    const own = new Map(applications.map((deps) => [deps.application, createActivities(deps)]));
    await open.forWorkflows(createUnnamedActivities(own, ledger, first));
    for (const [application, activities] of own)
      // oxlint-disable-next-line no-await-in-loop -- each is made in a moment, and together they would be a burst
      await open.forActivities(activityQueue(place.taskQueue, application), activities);
  });
}

/**
 * Whoever starts a process with another service profile has corrected it; the next answers and events tell whether that is so. With the profile that was
 * found to contradict itself the stop stays: a machine that restarts, or an autoscaler, starts processes too.
 */
async function endLastingStop({ ledger, service, profileDigest }: ActivityDeps): Promise<void> {
  const found = await ledger.misfits(profileDigest);
  if (found.some(({ code }) => code === PROFILE_CONTRADICTION)) return;
  await ledger.endLastingStop(service.baseUrl);
}

type AnyActivities = NonNullable<WorkerOptions['activities']>;

/** Makes workers on one connection. */
interface OpenWorkers {
  forWorkflows(activities: AnyActivities): Promise<void>;
  forActivities(taskQueue: string, activities: AnyActivities): Promise<void>;
}

function identityOf(deps: ActivityDeps, { profile }: WorkerPlace): string {
  return workerIdentity(workerScope(deps.ledger.id, deps), process.pid, randomBytes(4).toString('hex'), profile);
}

async function run(
  deps: ActivityDeps,
  place: WorkerPlace,
  create: (open: OpenWorkers) => Promise<void>,
): Promise<RunningWorker> {
  const telemetry = place.telemetry ?? NO_TELEMETRY.worker;
  const identity = identityOf(deps, place);
  const { sharedPatches } = place;
  const bundle =
    place.workflowBundle === undefined ? await workflowBundle(process.env) : { codePath: place.workflowBundle };
  const digest = await bundleDigest(bundle);
  const connection = await connectWorker(deps, place);
  const shared = {
    connection,
    namespace: place.namespace,
    identity,
    workerDeploymentOptions: unversioned(digest),
    shutdownGraceTime: 0,
    // By a heartbeat a slice hears that its run was terminated; the SDK keeps them back for most of their time-out.
    maxHeartbeatThrottleInterval: HEARTBEAT_MS,
    shutdownForceTime: FORCE,
    maxConcurrentActivityTaskExecutions: ACTIVITIES_AT_ONCE,
    ...(telemetry.interceptors !== undefined && { interceptors: telemetry.interceptors }),
  };
  const workers = await makeAll(connection, (make) =>
    create({
      forWorkflows: (activities) =>
        make({
          ...{ ...shared, activities, taskQueue: place.taskQueue, workflowBundle: bundle },
          ...(sharedPatches !== undefined && {
            patchActivationCallback: ({ patchId }) => sharedPatches.isShared(patchId),
          }),
        }),
      forActivities: (taskQueue, activities) =>
        make({ ...{ ...shared, activities, taskQueue }, maxConcurrentActivityTaskPolls: POLLS_OF_ONE }),
    }),
  );
  place.onWork?.();
  const ended = runToTheEnd(workers, connection);
  // The caller learns of the worker's end through `ended`; a rejection before it listens must not end the process.
  ended.catch(() => undefined);
  return {
    ended,
    isRunning: () => workers.every((worker) => worker.getState() === 'RUNNING'),
    async stop() {
      const isRunning = workers.some((worker) => worker.getState() === 'RUNNING');
      stopAll(workers);
      try {
        await ended;
      } catch (error) {
        if (isRunning) giveUp(workers, place, deps.log);
        throw error;
      } finally {
        // A worker that cannot announce its end stays listed for some minutes; others then wait and see whether it polls
        // again.
        await place
          .deregister?.(identity)
          .catch((err: unknown) => deps.log.warn('a worker could not deregister', { err }));
      }
    },
  };
}

/** Not versioned, see docs/decisions/temporal.md; the history of each run names the build that made each step. */
function unversioned(digest: string) {
  const version = { deploymentName: 'lote', buildId: `${VERSION}+${digest}` };
  return { version, useWorkerVersioning: false as const };
}

/** What the SDK opens keeps the process alive: nothing but the workers may fail from here on. @throws LoteError `temporal-unavailable` */
async function connectWorker({ log }: ActivityDeps, { temporal, telemetry }: WorkerPlace): Promise<NativeConnection> {
  await installSdkRuntime(log, telemetry ?? NO_TELEMETRY.worker);
  return NativeConnection.connect(temporal).catch((cause: unknown) => {
    throw notConnected(temporal, 'while the worker starts', cause);
  });
}

/** All or none: where one cannot be made, those before it end, and the connection with them. */
async function makeAll(
  connection: NativeConnection,
  create: (make: (options: WorkerOptions) => Promise<void>) => Promise<void>,
): Promise<readonly Worker[]> {
  const workers: Worker[] = [];
  try {
    await create(async (options) => void workers.push(await Worker.create(options)));
    return workers;
  } catch (error) {
    // A worker holds the connection until it has run and ended.
    const ended = runToTheEnd(workers, connection);
    stopAll(workers);
    await ended.catch(() => undefined);
    throw error;
  }
}

/** Forced: the SDK keeps the slices that did not end, and with them the process. */
function giveUp(workers: readonly Worker[], { onForcedEnd }: WorkerPlace, log: ActivityDeps['log']): void {
  log.warn('a worker gave up work that did not end in time', { left: workers.map(leftOf) });
  onForcedEnd?.();
}

/** What a worker that ended by force still had: an answer of the service, a step of a workflow or one of Temporal's. */
function leftOf(worker: Worker): Readonly<Record<string, number | boolean>> {
  const { numInFlightActivities, numInFlightWorkflowActivations, ...status } = worker.getStatus();
  return {
    activities: numInFlightActivities,
    workflowTasks: numInFlightWorkflowActivations,
    isPolling: status.hasOutstandingActivityPoll || status.hasOutstandingWorkflowPoll,
  };
}

function stopAll(workers: readonly Worker[]): void {
  for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
}

/** When one has died, the others leave too: without it, some of the work would wait and nobody would say why. */
async function runToTheEnd(workers: readonly Worker[], connection: NativeConnection): Promise<void> {
  const ends = workers.map(async (worker) => worker.run());
  try {
    await Promise.all(ends);
  } finally {
    stopAll(workers);
    await Promise.allSettled(ends);
    await connection.close();
  }
}
