import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import type { ActivityDeps } from '../../activities/deps.ts';
import { createActivities } from '../../activities/index.ts';

/** Slices in flight must be allowed to end: their POSTs are on the wire. */
const GRACE = '30s';
/** After the grace the process leaves anyway; what was on the wire is repeated with the same key and bytes. */
const FORCE = '45s';
/** Four pages send two slices each, of one batch; the rest is other batches, reports, reviews and reading. */
const ACTIVITIES_AT_ONCE = 24;

export interface WorkerPlace {
  readonly address: string;
  readonly namespace: string;
  readonly taskQueue: string;
}

export interface RunningWorker {
  /** Resolves when the worker has left; rejects when it died. */
  readonly ended: Promise<void>;
  stop(): Promise<void>;
}

/**
 * The SDK's own log goes to ours, errors only: core repeats a line for each retried call. Once per process, and only in one that has a worker:
 * the runtime keeps a process alive until its last worker ends.
 */
function quietSdk({ log }: ActivityDeps): void {
  Runtime.install({
    logger: new DefaultLogger('ERROR', ({ message }) => log.error('temporal sdk', { message })),
    telemetryOptions: { logging: { filter: { core: 'ERROR', other: 'ERROR' }, forward: {} } },
  });
}

/** Starts a worker for the product's workflows and activities. Its identity names its ledger. */
export async function startWorker(deps: ActivityDeps, place: WorkerPlace): Promise<RunningWorker> {
  quietSdk(deps);
  const connection = await NativeConnection.connect({ address: place.address });
  const worker = await Worker.create({
    connection,
    namespace: place.namespace,
    taskQueue: place.taskQueue,
    identity: `lote ledger=${deps.ledger.id} pid=${process.pid}`,
    activities: createActivities(deps),
    ...workflowCode(),
    shutdownGraceTime: GRACE,
    shutdownForceTime: FORCE,
    maxConcurrentActivityTaskExecutions: ACTIVITIES_AT_ONCE,
  });
  const ended = runToTheEnd(worker, connection);
  // Whoever starts a worker learns of its end through `ended`; a rejection before that must not end the process.
  ended.catch(() => undefined);
  return {
    ended,
    async stop() {
      if (worker.getState() === 'RUNNING') worker.shutdown();
      await ended;
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

/** An image holds the workflows bundled at build time; a checkout bundles them at start. */
function workflowCode(): { workflowBundle: { codePath: string } } | { workflowsPath: string } {
  const bundle = fileURLToPath(new URL('../../workflow-bundle.js', import.meta.url));
  if (existsSync(bundle)) return { workflowBundle: { codePath: bundle } };
  const source = fileURLToPath(new URL('../../workflows/index.ts', import.meta.url));
  return { workflowsPath: existsSync(source) ? source : source.replace(/\.ts$/, '.js') };
}
