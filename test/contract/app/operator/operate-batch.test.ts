import { createServer, type AddressInfo, type Server } from 'node:net';
import { Client, Connection } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  createBatchOperator,
  createConsoleRetry,
  retryInRun,
  retryWorkflowId,
} from '../../../../src/app/operator/operate-batch.ts';
import { createConsoleReconcile } from '../../../../src/app/schedules/reconciliation-schedule.ts';
import type { Operation } from '../../../../src/console/console-options.ts';
import type { OwnPlace } from '../../../../src/app/temporal/batch-starter.ts';
import { temporalClient } from '../../../support/servers/temporal-client.ts';
import { ownName } from '../../../support/files/batch-file.ts';

/** Event types of a run that nobody has touched. */
const STARTED = temporal.api.enums.v1.EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED;
const TASK_SCHEDULED = temporal.api.enums.v1.EventType.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED;

/** For a server that answers; a worker there is none. */
const PATIENCE_MS = 5_000;

const WISH = { batchId: 'batch-may', reason: 'again', acceptDuplicateRisk: false, by: 'ana' };

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

    await expect(retry({ ...WISH, batchId: name })).rejects.toMatchObject({ code: 'ledger-foreign' });
  });
});
const NOWHERE = { application: 'default', taskQueue: 'nobody' };

describe.each(['takes connections and does not answer', 'refuses connections'])('a Temporal server that %s', (how) => {
  let server: Server;
  let connection: Connection;
  let client: Client;

  beforeAll(async () => {
    server = createServer(() => undefined);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    if (how.startsWith('refuses')) server.close();
    connection = Connection.lazy({ address: `127.0.0.1:${port}` });
    client = new Client({ connection });
  });

  afterAll(async () => {
    await connection.close();
    server.close();
  });

  it.each([
    ['a reconciliation', () => createConsoleReconcile(client, NOWHERE, 'ledger', 500)()],
    ['a retry', () => createConsoleRetry({ client, ...NOWHERE, ledgerId: 'ledger' }, 500)(WISH)],
  ])('is named in the answer to %s, which does not say that it has begun', async (_, ask) => {
    await expect(ask()).rejects.toMatchObject({
      code: 'temporal-unavailable',
      message: expect.stringContaining('look at the batch before you repeat it') as string,
    });
  });

  it('does not keep the page of an operator who pauses a batch waiting', async () => {
    const operate = createBatchOperator({ client, taskQueue: 'nobody' }, 500);

    await expect(operate('batch-may', { kind: 'pause', reason: 'a try' }, 'ana')).rejects.toMatchObject({
      code: expect.stringMatching(/^(?:temporal-unavailable|worker-missing)$/u) as string,
    });
  });
});
