import { createServer, type AddressInfo, type Server } from 'node:net';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createConsoleReconcile } from '../../../../src/app/schedules/reconciliation-schedule.ts';
import { createBatchOperator, createConsoleRetry } from '../../../../src/app/operator/operate-batch.ts';

const PLACE = { application: 'default', taskQueue: 'nobody' };
const WISH = { batchId: 'batch-may', reason: 'again', acceptDuplicateRisk: false, by: 'ana' };

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
    ['a reconciliation', () => createConsoleReconcile(client, PLACE, 'ledger', 500)()],
    ['a retry', () => createConsoleRetry({ client, taskQueue: 'nobody', ledgerId: 'ledger' }, 500)(WISH)],
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
