import { Client, Connection } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { confirmBatchTotal, createBatchOperator } from '../../../../src/wiring/operator/operate-batch.ts';
import { createConsoleRetry, retryInRun, retryWorkflowId } from '../../../../src/wiring/operator/retry-batch.ts';
import type { OwnPlace } from '../../../../src/wiring/temporal/own-run.ts';
import { ownName } from '../../../support/files/batch-file.ts';

/** Event types of a run that nobody has touched. */
const STARTED = temporal.api.enums.v1.EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED;
const TASK_SCHEDULED = temporal.api.enums.v1.EventType.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED;

/** For a server that answers; a worker there is none. */
const PATIENCE_MS = 5_000;

let connection: Connection;

beforeAll(async () => {
  connection = await Connection.connect({ address: inject('temporalAddress') });
});

afterAll(async () => {
  await connection.close();
});

it('says that no worker answers, instead of keeping the page for ever', async () => {
  const client = new Client({ connection });
  const name = ownName('no-worker');
  const batch = await client.workflow.start('invoiceBatch', { workflowId: name, taskQueue: name, args: [] });
  const operate = createBatchOperator({ client, taskQueue: name }, PATIENCE_MS);

  await expect(operate(name, { kind: 'pause', reason: 'a try' }, 'ana')).rejects.toMatchObject({
    code: 'worker-missing',
    message: expect.stringMatching(/^Operating a batch \(pause\): .* before you repeat it/u) as string,
  });

  await batch.terminate();
});

it('says that a run has ended before it could take invoices up again', async () => {
  const client = new Client({ connection });
  const name = ownName('ended');
  const batch = await client.workflow.start('invoiceBatch', { workflowId: name, taskQueue: name, args: [] });
  await batch.terminate();

  await expect(retryInRun({ client, taskQueue: name }, name, { reason: 'again' })).rejects.toMatchObject({
    code: 'transition-refused',
    message: expect.stringContaining(`the run ${name} has ended in this moment`) as string,
  });
});

describe('the run of another installation, which shares the namespace and has the same file', () => {
  it.each([
    [
      'paused',
      (place: OwnPlace, id: string) => createBatchOperator(place)(id, { kind: 'pause', reason: 'a try' }, 'ana'),
    ],
    ['resumed', (place: OwnPlace, id: string) => createBatchOperator(place)(id, { kind: 'resume' }, 'ana')],
    ['sent', (place: OwnPlace, id: string) => confirmBatchTotal(place, id, { invoices: 1, reason: 'right' })],
    ['given invoices', (place: OwnPlace, id: string) => retryInRun(place, id, { reason: 'again' })],
  ])('is not %s', async (_what, act) => {
    const client = new Client({ connection });
    const name = ownName('foreign');
    const batch = await client.workflow.start('invoiceBatch', { workflowId: name, taskQueue: `${name}-b`, args: [] });

    await expect(act({ client, taskQueue: `${name}-a` }, name)).rejects.toMatchObject({
      code: 'ledger-foreign',
      message: expect.stringContaining(
        `but ${name} runs on ${name}-b. Nothing was sent or changed from here.`,
      ) as string,
    });

    const { events } = await batch.fetchHistory();
    expect(events?.map(({ eventType }) => eventType)).toEqual([STARTED, TASK_SCHEDULED]);
    await batch.terminate();
  });

  it('is not joined by a retry of the same batch', async () => {
    const client = new Client({ connection });
    const name = ownName('foreign');
    const workflowId = retryWorkflowId(name);
    const other = await client.workflow.start('retryInvoices', { workflowId, taskQueue: `${name}-b`, args: [] });
    const retry = createConsoleRetry({
      client,
      taskQueue: `${name}-a`,
      ledgerId: 'own',
      applicationOf: async () => null,
    });

    await expect(
      retry({ batchId: name, reason: 'again', acceptDuplicateRisk: false, by: 'ana' }),
    ).rejects.toMatchObject({ code: 'ledger-foreign' });

    await other.terminate();
  });
});
