import type { Client } from '@temporalio/client';
import { LoteError } from '../../domain/errors.ts';
import type { CommonFolders } from '../folders/common-folders.ts';
import type { RunningWorker } from '../worker/start-worker.ts';
import { queryTemporal } from '../temporal/watch-temporal.ts';
import type { FolderRole } from '../../ledger/operations/shared-folders.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { sharedAnswer } from '../../platform/concurrency.ts';
import { answerWithin } from '../temporal/calls.ts';
import type { Readiness } from '../../domain/records/readiness.ts';

/** A probe has a time-out of a few seconds, so that the answer must come before it. */
const PATIENCE_MS = 2_000;

/**
 * Asks each part that a process cannot work without; a part that rejects, or does not answer within 2 s, is in trouble. Each is asked once at a
 * time: probes do not pile up questions for a database that is away.
 */
export function createReadiness(parts: Readonly<Record<string, () => Promise<unknown>>>): () => Promise<Readiness> {
  const questions = Object.entries(parts).map(([name, ask]) => ({ name, ask: sharedAnswer(async () => ask()) }));
  return async () => {
    const asked = questions.map(async ({ name, ask }) => {
      const answered = await answerWithin(
        PATIENCE_MS,
        ask().then(
          () => true,
          () => false,
        ),
      );
      return [name, answered === true ? 'ok' : 'trouble'] as const;
    });
    const found = await Promise.all(asked);
    const isReady = found.every(([, state]) => state === 'ok');
    return { status: isReady ? 'ready' : 'trouble', parts: Object.fromEntries(found) };
  };
}

const FOLDERS: readonly FolderRole[] = ['input', 'reports', 'files'];

export interface WorkerHealthParts {
  readonly ledger: Ledger;
  readonly client: Client;
  readonly worker: Pick<RunningWorker, 'isRunning'>;
  readonly folders: CommonFolders | null;
}

/** Whether a worker can do its work now: ledger, Temporal, its own state, and the folders that it shares. */
export function workerReadiness({ ledger, client, worker, folders }: WorkerHealthParts): () => Promise<Readiness> {
  return createReadiness({
    ledger: () => ledger.ping(),
    temporal: () => queryTemporal(client),
    worker: async () => {
      if (!worker.isRunning()) throw new LoteError('worker-missing', 'Looking at the worker: it has stopped.');
    },
    ...(folders === null ? {} : { folders: async () => Promise.all(FOLDERS.map((role) => folders.require(role))) }),
  });
}
