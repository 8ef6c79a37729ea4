import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { createBatchOperator } from '../../../../src/wiring/operator/operate-batch.ts';
import { ownName } from '../../../support/files/batch-file.ts';

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
  const operate = createBatchOperator(client, 500);

  await expect(operate(name, { kind: 'pause', reason: 'a try' }, 'ana')).rejects.toMatchObject({
    code: 'worker-missing',
    message: expect.stringMatching(/^Operating a batch \(pause\): .* before you repeat it/u) as string,
  });

  await batch.terminate();
});
