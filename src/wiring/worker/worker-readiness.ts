import type { Client } from '@temporalio/client';
import { LoteError } from '../../domain/errors.ts';
import type { FolderRole } from '../../domain/ports/ledger/shared-folder-ledger.ts';
import type { Ledger } from '../../domain/ports/ledger/ledger.ts';
import type { Readiness } from '../../domain/ports/readiness.ts';
import type { CommonFolders } from '../folders/common-folders.ts';
import { createReadiness } from '../start/readiness.ts';
import type { RunningWorker } from './start-worker.ts';
import { queryTemporal } from '../temporal/watch-temporal.ts';

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
