import type { Client } from '@temporalio/client';
import { LoteError } from '../../domain/errors.ts';
import type { CommonFolders } from '../folders/common-folders.ts';
import { queryTemporal } from '../temporal/watch-temporal.ts';
import type { FolderRole } from '../../ledger/operations/shared-folders.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { sharedAnswer } from '../../platform/concurrency.ts';
import { answerWithin } from '../temporal/calls.ts';
import type { Readiness } from '../../domain/records/readiness.ts';

/** A probe times out after a few seconds, so the answer must come earlier. */
const PATIENCE_MS = 2_000;

/**
 * Asks each part that the process needs; a part that rejects, or does not answer within 2 s, is in trouble. Lote asks
 * each part once at a time, so that probes do not pile up queries for an unreachable database.
 */
export function createReadiness(parts: Readonly<Record<string, () => Promise<unknown>>>): () => Promise<Readiness> {
  const questions = Object.entries(parts).map(([name, ask]) => ({ name, ask: sharedAnswer(async () => ask()) }));
  return async () => {
    const asked = questions.map(async ({ name, ask }) => {
      const answered = answerWithin(
        PATIENCE_MS,
        ask().then(() => 'ok' as const),
      );
      return [name, (await answered.catch(() => null)) ?? 'trouble'] as const;
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
  readonly worker: { isRunning(): boolean };
  readonly folders: CommonFolders | null;
}

/** Returns whether a worker can work now: ledger, Temporal, its own state, and its shared folders. */
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
