import { randomUUID } from 'node:crypto';
import { Client } from '@temporalio/client';
import { describe, expect, inject, it } from 'vitest';
import { connectTemporal } from '../../../../src/app/temporal/temporal-connection.ts';
import { tcpProxy } from '../../../support/servers/proxies.ts';

/** gRPC's numbers. */
const CANCELLED = 1;
const PATIENCE_MS = 500;

describe('a closed connection', () => {
  it('ends the long poll that was in flight', async () => {
    const connection = await connectTemporal({ address: inject('temporalAddress') });
    const client = new Client({ connection });
    const workflowId = `nobody-${randomUUID()}`;
    const handle = await client.workflow.start('anything', { taskQueue: workflowId, workflowId });
    const result = handle.result().catch((error: unknown) => error);

    await connection.close();

    expect(await result).toMatchObject({ cause: { code: CANCELLED } });
  });

  it('ends a call that waits to be repeated, without an unhandled error', async () => {
    const proxy = await tcpProxy(inject('temporalAddress'));
    const connection = await connectTemporal({ address: proxy.address });
    await proxy.cut();
    const call = connection.workflowService.getSystemInfo({}).catch((error: unknown) => error);
    // When this one has given up, the other has failed several times and stands in a timer.
    await connection
      .withDeadline(Date.now() + PATIENCE_MS, () => connection.workflowService.getClusterInfo({}))
      .catch(() => undefined);
    const late = connection.workflowService.getSystemInfo({}).catch((error: unknown) => error);

    await connection.close();

    expect(await call).toBeInstanceOf(Error);
    expect(await late).toBeInstanceOf(Error);
  });

  it('takes no new call', async () => {
    const connection = await connectTemporal({ address: inject('temporalAddress') });
    await connection.close();

    await expect(connection.workflowService.getSystemInfo({})).rejects.toThrow();
  });
});
