import { randomBytes } from 'node:crypto';
import { inject, onTestFinished } from 'vitest';
import type { BatchInput, BatchResult, ReconciliationResult } from '../../../src/domain/messages/messages.ts';
import { readConfig } from '../../../src/app/config/config.ts';
import type { reconciliation } from '../../../workflows/reconciliation.ts';
import { ownName, testInvoices } from '../files/batch-file.ts';
import { independentSandbox, startServiceFront } from '../servers/service-front.ts';
import { sandboxEnv } from './running-lote.ts';
import { newPlace } from './lote-command.ts';
import { shareCallContext, shareWorkflowThread } from './shared-connection.ts';
import { restorableLote, type RestorableLote } from './restorable-lote.ts';

shareWorkflowThread(inject('workflowBundle'));
shareCallContext();

/** Six invoices of one night. */
export const NIGHT = testInvoices(6, {}, 10);

export type Scene = Awaited<ReturnType<typeof scene>>;

/** Starts Lote with a sandbox, and with its own Temporal server or the server of the test run. */
export async function scene(postgresUrl: string | null, settleMs = 20, temporal: 'own' | 'shared' = 'shared') {
  let ahead = 0;
  const place = await newPlace();
  const sandbox = await independentSandbox({ settleMs, clock: () => Date.now() + ahead });
  const front = await startServiceFront(sandbox.url);
  const name = ownName('restore');
  const lote = await restorableLote({
    ...{ directory: place.directory, dataDir: place.dataDir, postgresUrl },
    env: {
      ...(await sandboxEnv(place, front)),
      ...(temporal === 'shared' && { TEMPORAL_ADDRESS: inject('temporalAddress') }),
      LOTE_TASK_QUEUE: `lote-${name}-${randomBytes(3).toString('hex')}`,
      LOTE_APPLICATION: name,
      LOTE_LOG_LEVEL: 'warn',
      // The service sends a final event once, to the lost ledger. A poll after a quarter of this time repeats it.
      LOTE_SETTLE_TIMEOUT: '20s',
    },
  });
  onTestFinished(async () => {
    await lote.remove();
    await front.close();
    await sandbox.close();
    await place.remove();
  });
  return {
    ...{ lote, sandbox, front, reportsDir: place.reportsDir },
    /** Advances the service's clock, so that the service forgets keys. */
    pass: (ms: number) => void (ahead += ms),
  };
}

export async function resultOf(
  lote: RestorableLote,
  name: string,
  invoices: typeof NIGHT,
  options: Partial<BatchInput> = {},
): Promise<BatchResult> {
  return (await lote.drop(name, invoices, options)).result();
}

export async function reconcileAll(lote: RestorableLote): Promise<ReconciliationResult> {
  return lote.client().workflow.execute<typeof reconciliation>('reconciliation', {
    workflowId: ownName('reconciliation'),
    taskQueue: readConfig(lote.env).taskQueue,
    args: [{ all: true }],
  });
}
