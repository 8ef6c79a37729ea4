import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { readConfig } from '../../../../src/runtime/config/config.ts';
import { lazyClient, placeOf } from '../../../../src/wiring/temporal/connect-client.ts';
import type { ReadAccess } from '../../../../src/wiring/temporal/renewed-access.ts';
import { watchAccess, watchTemporal } from '../../../../src/wiring/temporal/watch-temporal.ts';
import { selfSigned } from '../../../support/files/self-signed.ts';
import { keyGate, type Refusal } from '../../../support/servers/key-gate.ts';
import { until } from '../../../support/until.ts';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';

/** Two rounds of a watch whose question is repeated until its time is over. */
const ROUNDS_MS = 15_000;

/** A watch until the test ends. */
function watchUntilEnd(client: Client, access: ReadAccess) {
  const watch = watchAccess(client, access);
  onTestFinished(() => watch.stop());
  let isLost = false;
  watch.lost.catch(() => (isLost = true));
  return { lost: watch.lost, isLost: () => isLost };
}

/** Something that not everybody is told. */
const ask = (client: Client): Promise<unknown> =>
  client.workflowService.describeNamespace({ namespace: client.options.namespace });

function isRefused(client: Client): Promise<boolean> {
  return ask(client).then(
    () => false,
    () => true,
  );
}

/** What a process has read of a server that wants an API key from a file. */
async function behindGate(status: Refusal, denied: string | null = null) {
  const directory = await temporaryDirectory();
  const own = selfSigned('valid');
  const gate = await keyGate(inject('temporalAddress'), own, { trusted: 'first-key', status, denied });
  await writeFile(join(directory, 'server.crt'), own.cert);
  const writeKey = (key: string): Promise<void> => writeFile(join(directory, 'key'), `${key}\n`);
  await writeKey('first-key');
  const env = {
    TEMPORAL_ADDRESS: gate.address,
    TEMPORAL_API_KEY_FILE: join(directory, 'key'),
    TEMPORAL_TLS_SERVER_CA_CERT_PATH: 'server.crt',
  };
  const { temporal } = readConfig(env, directory);
  const place = await placeOf(gate.address, temporal);
  const client = lazyClient(place, temporal.namespace);
  onTestFinished(async () => {
    await client.connection.close();
    await gate.close();
  });
  return { gate, writeKey, client, access: { place, temporal } };
}

describe('a watch over Temporal whose API key is renewed', () => {
  it.each<[string, Refusal]>([
    ['does not know it', 16],
    ['calls it without rights', 7],
    ['says through a proxy that it is a bad request', 400],
  ])('gives up once the server takes the new key, and of the old one %s', async (_what, status) => {
    const { gate, writeKey, client, access } = await behindGate(status);
    const watch = watchUntilEnd(client, access);
    await ask(client);

    gate.trust('second-key');
    await until(() => isRefused(client));
    expect(watch.isLost()).toBe(false);
    await writeKey('second-key');

    await expect(watch.lost).rejects.toMatchObject({
      code: 'temporal-unavailable',
      message: expect.stringMatching(/start it again/) as string,
    });
  });

  it('gives up once the server knows the new key and no longer the old one, though neither has the right to ask about a task queue', async () => {
    const { gate, writeKey, client, access } = await behindGate(16, 'DescribeTaskQueue');
    const watch = watchUntilEnd(client, access);
    gate.trust('second-key');
    await writeKey('second-key');
    await expect(watch.lost).rejects.toMatchObject({ code: 'temporal-unavailable' });
  });

  it('does not give up where the server denies the question to both keys', async () => {
    const { gate, writeKey, client, access } = await behindGate(7, 'DescribeTaskQueue');
    gate.trust('second-key');
    await writeKey('second-key');
    const watch = watchUntilEnd(client, access);
    await sleep(ROUNDS_MS);
    expect(watch.isLost()).toBe(false);
  });

  it.each<[string, Refusal, string, string]>([
    ['the new key is refused, too, though the server tells everybody what it is', 16, 'third-key', 'second-key'],
    ['the server answers to the old one with an error of another kind', 8, 'second-key', 'second-key'],
  ])('does not give up while %s', async (_what, status, trusted, written) => {
    const { gate, writeKey, client, access } = await behindGate(status);
    await writeKey(written);
    gate.trust(trusted);

    const watch = watchUntilEnd(client, access);
    await sleep(ROUNDS_MS);

    expect(watch.isLost()).toBe(false);
  });
});

describe('a watch over Temporal with a certificate that has expired', () => {
  it('says so', async () => {
    const directory = await temporaryDirectory();
    const { cert, key } = selfSigned('expired');
    await writeFile(join(directory, 'client.crt'), cert);
    await writeFile(join(directory, 'client.key'), key);
    const env = { TEMPORAL_TLS_CLIENT_CERT_PATH: 'client.crt', TEMPORAL_TLS_CLIENT_KEY_PATH: 'client.key' };
    const { temporal } = readConfig({ TEMPORAL_ADDRESS: '127.0.0.1:1', ...env }, directory);
    const place = await placeOf('127.0.0.1:1', temporal);
    const client = lazyClient(place, temporal.namespace);
    onTestFinished(() => client.connection.close());
    const logged: string[] = [];

    const watch = watchTemporal(client, { place, temporal }, { warn: (message) => logged.push(message) });
    onTestFinished(() => watch.stop());
    await until(() => logged.length > 0);

    expect(logged).toEqual([expect.stringContaining('the certificate that this process shows it has expired')]);
  });
});
