import { temporal } from '@temporalio/proto';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  createBatchOperator,
  createConsoleRetry,
  retryInRun,
  retryWorkflowId,
} from '../../../../src/app/operator/operate-batch.ts';
import type { Operation } from '../../../../src/console/console-options.ts';
import type { OwnPlace } from '../../../../src/app/temporal/batch-starter.ts';
import { temporalClient } from '../../../support/servers/temporal-client.ts';
import { ownName } from '../../../support/files/batch-file.ts';

/** Event types of a run that nobody has touched. */
const STARTED = temporal.api.enums.v1.EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED;
const TASK_SCHEDULED = temporal.api.enums.v1.EventType.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED;

/** For a server that answers; a worker there is none. */
const PATIENCE_MS = 5_000;

const { client: newClient } = temporalClient();

/** A run that no worker takes, on this queue. */
async function runOn(taskQueue: string, workflowId = taskQueue, type = 'invoiceBatch') {
  const client = newClient();
  const batch = await client.workflow.start(type, { workflowId, taskQueue, args: [] });
  onTestFinished(async () => void (await batch.terminate().catch(() => undefined)));
  return { client, batch };
}

it('says that no worker answers, instead of keeping the page for ever', async () => {
  const name = ownName('no-worker');
  const { client } = await runOn(name);
  const operate = createBatchOperator({ client, taskQueue: name }, PATIENCE_MS);

  await expect(operate(name, { kind: 'pause', reason: 'a try' }, 'ana')).rejects.toMatchObject({
    code: 'worker-missing',
    message: expect.stringMatching(/^Operating a batch \(pause\): .* before you repeat it/u) as string,
  });
});

it('says that a run has ended before it could take invoices up again', async () => {
  const name = ownName('ended');
  const { client, batch } = await runOn(name);
  await batch.terminate();

  await expect(retryInRun({ client, taskQueue: name }, name, { reason: 'again' })).rejects.toMatchObject({
    code: 'transition-refused',
    message: expect.stringContaining(`the run ${name} has ended in this moment`) as string,
  });
});

describe('the run of another installation, which shares the namespace and has the same file', () => {
  const order = (operation: Operation) => (place: OwnPlace, id: string) => createBatchOperator(place)(id, operation);

  it.each<[string, (place: OwnPlace, id: string) => Promise<unknown>]>([
    ['paused', order({ kind: 'pause', reason: 'a try' })],
    ['resumed', order({ kind: 'resume' })],
    ['sent', order({ kind: 'confirmTotal', invoices: 1, reason: 'right' })],
    ['given invoices', (place, id) => retryInRun(place, id, { reason: 'again' })],
  ])('is not %s', async (_what, act) => {
    const name = ownName('foreign');
    const { client, batch } = await runOn(`${name}-b`, name);

    await expect(act({ client, taskQueue: `${name}-a` }, name)).rejects.toMatchObject({
      code: 'ledger-foreign',
      message: expect.stringContaining(`but ${name} runs on ${name}-b. Nothing was sent or changed`) as string,
    });
    const { events } = await batch.fetchHistory();
    expect(events?.map(({ eventType }) => eventType)).toEqual([STARTED, TASK_SCHEDULED]);
  });

  it('is not joined by a retry of the same batch', async () => {
    const name = ownName('foreign');
    const { client } = await runOn(`${name}-b`, retryWorkflowId(name), 'retryInvoices');
    const retry = createConsoleRetry({ client, taskQueue: `${name}-a`, ledgerId: 'own' });

    await expect(
      retry({ batchId: name, reason: 'again', acceptDuplicateRisk: false, by: 'ana' }),
    ).rejects.toMatchObject({ code: 'ledger-foreign' });
  });
});
