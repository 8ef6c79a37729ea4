import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { LoteError } from '../../../domain/errors.ts';
import type { Config } from '../../../runtime/config/config.ts';
import { createCommonFolders } from '../../../wiring/folders/common-folders.ts';
import { connectClient, placeOf } from '../../../wiring/temporal/connect-client.ts';
import { openLedger } from '../../../wiring/account/open-ledger.ts';
import { openService } from '../../../wiring/account/open-service.ts';
import { readProfile } from '../../../wiring/account/read-profiles.ts';
import { workerScope, queuePollers } from '../../../wiring/temporal/queue-pollers.ts';
import { requireListedWorker, requireLiveWorker } from '../../../wiring/temporal/require-live-worker.ts';
import { endUntouchedRun } from '../../../wiring/temporal/own-run.ts';
import type { BatchResult } from '../../../contract/messages.ts';
import { interruption } from '../interruption.ts';
import { preflight } from '../preflight.ts';
import { progressLine } from '../../output/progress-line.ts';
import { fetchProgress, startBatches, waitForBatches, type StartedBatch } from './run-batches.ts';
import { settledCountIn } from '../settled-count-in.ts';
import type { RunCommand } from './run-command.ts';

const INTERRUPTED = 'Interrupted: the workers go on with the batch. `lote status` tells where it stands.';

/** Ledger and Temporal are shared: workers elsewhere do the work, this process starts it and waits. */
export async function runAsClient(config: Config, command: RunCommand): Promise<readonly BatchResult[]> {
  const { temporal, taskQueue } = config;
  const interrupt = interruption(INTERRUPTED, () => undefined);
  const ledger = await openLedger({ databaseUrl: config.databaseUrl, directory: config.dataDir });
  try {
    const client = await connectClient(await placeOf(temporal.address ?? '', temporal), temporal.namespace);
    try {
      const watch = {
        ...{ taskQueue, scope: workerScope(ledger.id, config) },
        pollers: () => queuePollers(client, taskQueue),
        pause: (ms: number) => sleep(ms),
      };
      await requireListedWorker(watch);
      // A file that only this machine sees is of no use to the workers.
      await createCommonFolders({ config, ledger })?.require('input');
      await queryService(config);
      interrupt.begin();
      const ended = interrupt.interrupted;
      const started = await startBatches({ ...command, config, client, ledgerId: ledger.id, ended });
      for (const batch of started) {
        await requireLiveWorker(watch, answered(batch)).catch((error: unknown) => giveUp(client, batch, error));
      }
      return await waitForBatches(started, {
        progress: progressLine(),
        settledCount: (batchId) => settledCountIn(ledger, batchId),
        ended,
      });
    } finally {
      await client.connection.close();
    }
  } finally {
    await ledger.close();
    interrupt.end();
  }
}

/** A client may know nothing of the service: then the workers' own check has to do. */
async function queryService(config: Config): Promise<void> {
  if (config.service.kind !== 'remote') return;
  const service = openService(config, config.service, readProfile(config));
  try {
    await preflight(service, Date.now);
  } finally {
    await service.close();
  }
}

/** Only a worker answers a query. */
async function answered({ handle }: StartedBatch): Promise<void> {
  if ((await fetchProgress(handle)) === null)
    throw new LoteError(
      'worker-missing',
      'Asking for the progress of a batch: a worker must answer, but none does. Start one with `lote worker`.',
    );
}

/** A run that nobody ever took up leaves no batch behind; one that a worker has begun stays for the workers to come. */
async function giveUp(client: Client, { handle }: StartedBatch, error: unknown): Promise<never> {
  const end = await endUntouchedRun(client, handle.workflowId, 'no worker took it up');
  if (end !== 'interrupted' || !(error instanceof LoteError)) throw error;
  throw new LoteError(
    error.code,
    `${error.message} A worker took up ${handle.workflowId} in this very moment, and it was ended all the same: run the file again when a worker runs. It goes on where it stopped, and nothing is sent twice.`,
    { cause: error },
  );
}
