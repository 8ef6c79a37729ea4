import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { choosePort } from '../../../../src/app/process/free-port.ts';
import { connectTemporal, lazyTemporal, placeOf } from '../../../../src/app/temporal/temporal-connection.ts';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';
import { tcpProxy } from '../../../support/servers/proxies.ts';

/** By then gRPC's own back-off waits for more than ten seconds. */
const AWAY_MS = 35_000;
/** Five seconds, a fifth more by chance, and a busy machine. */
const LONGEST_GAP_MS = 8_000;

/** An address where every connection is cut, and when somebody connected. */
async function cuttingServer() {
  const tries: number[] = [];
  const server = createServer((socket) => {
    tries.push(Date.now());
    socket.destroy();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => void server.close());
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, tries };
}

describe('connectTemporal', () => {
  it('names the address and the variable when no server answers there, and shows no key', async () => {
    const port = await choosePort({ host: '127.0.0.1', port: 0, explicit: false, variable: 'X' });
    const place = placeOf(`127.0.0.1:${port}`, { address: `127.0.0.1:${port}`, profile: { apiKey: 'hidden-key' } });

    const failure: unknown = await connectTemporal(place, 300).catch((error: unknown) => error);

    expect(failure).toMatchObject({ code: 'temporal-unavailable' });
    for (const part of [`127.0.0.1:${port}`, 'TEMPORAL_ADDRESS']) expect(String(failure)).toContain(part);
    expect(String(failure)).not.toContain('hidden-key');
  });

  it('tries no more when it has failed', async () => {
    const { address, tries } = await cuttingServer();

    await expect(connectTemporal({ address }, 300)).rejects.toThrow();
    // One that was planned for the next second may still come.
    await sleep(2_500);
    const triesBefore = tries.length;
    await sleep(6_000);

    expect(triesBefore).toBeGreaterThan(0);
    expect(tries).toHaveLength(triesBefore);
  });
});

describe('lazyTemporal', () => {
  it('is there before its server, and works once it is asked', async () => {
    const connection = lazyTemporal({ address: inject('temporalAddress') });

    const { serverVersion } = await connection.workflowService.getSystemInfo({});
    await connection.close();

    expect(serverVersion).toMatch(/^\d+\./u);
  });
});

describe('a connection whose server is away', () => {
  it('tries again every few seconds, however long it has been away', async () => {
    const { address, tries } = await cuttingServer();
    const connection = lazyTemporal({ address });
    const ask = async (): Promise<unknown> => connection.workflowService.getSystemInfo({}).catch(() => undefined);
    for (const end = Date.now() + AWAY_MS; Date.now() < end; await sleep(100)) await ask();
    await connection.close();

    const gaps = tries.slice(1).map((at, index) => at - (tries[index] ?? 0));
    expect(gaps.length).toBeGreaterThan(4);
    expect(Math.max(...gaps)).toBeLessThan(LONGEST_GAP_MS);
  });
});

/** As the SDK's library reads a file. */
const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('the place of a Temporal server', () => {
  it('reads certificates from their files', async () => {
    const directory = await temporaryDirectory();
    const [ca, crt, key] = ['ca.pem', 'crt.pem', 'key.pem'].map((name) => join(directory, name));
    for (const file of [ca, crt, key]) await writeFile(String(file), `PEM of ${String(file)}`);

    const client = { clientCert: { path: String(crt) }, clientKey: { path: String(key) } };
    const tls = { serverName: 'temporal.example', serverCACert: { path: String(ca) }, ...client };
    const profile = { apiKey: 'key', tls };

    expect(placeOf('host:7233', { address: 'host:7233', profile })).toMatchObject({
      address: 'host:7233',
      apiKey: 'key',
      tls: {
        serverNameOverride: 'temporal.example',
        serverRootCACertificate: encode(`PEM of ${String(ca)}`),
        clientCertPair: { crt: encode(`PEM of ${String(crt)}`), key: encode(`PEM of ${String(key)}`) },
      },
    });
  });

  it('names the variables of a certificate that cannot be read', () => {
    const profile = { tls: { serverCACert: { path: '/nowhere/ca.pem' } } };

    expect(() => placeOf('host:7233', { address: 'host:7233', profile })).toThrow(/TEMPORAL_TLS_….*ENOENT/u);
  });
});

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
