import { randomBytes } from 'node:crypto';
import { NativeConnection, Worker } from '@temporalio/worker';
import type { ActivityDeps } from '../../../activities/deps.ts';
import { createActivities } from '../../../activities/index.ts';
import type { TemporalPlace } from '../../runtime/temporal/temporal-connection.ts';
import { NO_TELEMETRY, type WorkerTelemetry } from '../../telemetry/telemetry.ts';
import { workerScope, workerIdentity } from '../temporal/queue-pollers.ts';
import { installSdkRuntime } from '../temporal/sdk-runtime.ts';
import type { SharedPatches } from '../temporal/shared-patches.ts';
import { VERSION } from './version.ts';
import { bundleDigest, workflowBundle } from './workflow-bundle.ts';

/** Slices in flight must be allowed to end: their POSTs are on the wire. */
const GRACE = '30s';
/** After the grace the process leaves anyway; what was on the wire is repeated with the same key and bytes. */
const FORCE = '45s';
/** Four pages send two slices each, of one batch; the rest is other batches, reports, reviews and reading. */
const ACTIVITIES_AT_ONCE = 24;

/** Where a worker works, and with whom. */
export interface WorkerPlace {
  readonly temporal: TemporalPlace;
  readonly namespace: string;
  readonly taskQueue: string;
  /** Notifies the other workers that this one has left; left out: there are no others. */
  readonly deregister?: (identity: string) => Promise<void>;
  /** Path of a bundle that was made before; left out: see workflow-bundle.ts. */
  readonly workflowBundle?: string;
  /** Which patches the other workers know too; left out: there are no others. */
  readonly sharedPatches?: Pick<SharedPatches, 'isShared'>;
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
  const telemetry = place.telemetry ?? NO_TELEMETRY.worker;
  await installSdkRuntime(deps.log, telemetry);
  const connection = await NativeConnection.connect(place.temporal);
  const identity = workerIdentity(
    workerScope(deps.ledger.id, deps.application),
    process.pid,
    randomBytes(4).toString('hex'),
  );
  const { sharedPatches } = place;
  const bundle =
    place.workflowBundle === undefined ? await workflowBundle(process.env) : { codePath: place.workflowBundle };
  const worker = await Worker.create({
    connection,
    namespace: place.namespace,
    taskQueue: place.taskQueue,
    identity,
    activities: createActivities(deps),
    workflowBundle: bundle,
    // Not versioned, see docs/decisions/temporal.md; the history of each run names the build that made each step.
    workerDeploymentOptions: {
      version: { deploymentName: 'lote', buildId: `${VERSION}+${await bundleDigest(bundle)}` },
      useWorkerVersioning: false,
    },
    ...(sharedPatches !== undefined && { patchActivationCallback: ({ patchId }) => sharedPatches.isShared(patchId) }),
    shutdownGraceTime: GRACE,
    shutdownForceTime: FORCE,
    maxConcurrentActivityTaskExecutions: ACTIVITIES_AT_ONCE,
    ...(telemetry.interceptors !== undefined && { interceptors: telemetry.interceptors }),
  });
  const ended = runToTheEnd(worker, connection);
  // The caller learns of the worker's end through `ended`; a rejection before it listens must not end the process.
  ended.catch(() => undefined);
  return {
    ended,
    isRunning: () => worker.getState() === 'RUNNING',
    async stop() {
      const isRunning = worker.getState() === 'RUNNING';
      if (isRunning) worker.shutdown();
      try {
        await ended;
      } catch (error) {
        // Forced: the SDK keeps the slices that did not end, and with them the process.
        if (isRunning) place.onForcedEnd?.();
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

async function runToTheEnd(worker: Worker, connection: NativeConnection): Promise<void> {
  try {
    await worker.run();
  } finally {
    await connection.close();
  }
}
