import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { readConfig } from '../../../../src/app/config/config.ts';
import { lazyClient, placeOf } from '../../../../src/app/temporal/temporal-connection.ts';
import { watchTemporal, type ReadAccess } from '../../../../src/app/temporal/watch-temporal.ts';
import { selfSigned, keyGate, type Refusal } from '../../../support/servers/key-gate.ts';
import { until } from '../../../support/until.ts';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';

/** Two rounds of a watch whose question is repeated until its time is over. */
const ROUNDS_MS = 15_000;

/** A watch until the test ends. */
function watchUntilEnd(client: Client, access: ReadAccess) {
  let isLost = false;
  const lost = new Promise<unknown>((resolve) => {
    const onLost = (error: unknown): void => {
      isLost = true;
      resolve(error);
    };
    const watch = watchTemporal(client, access, { log: { warn: () => undefined }, onLost });
    onTestFinished(() => watch.stop());
  });
  return { lost, isLost: () => isLost };
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
    TEMPORAL_TLS_SERVER_CA_CERT_PATH: join(directory, 'server.crt'),
  };
  const { temporal } = readConfig(env, directory);
  const place = placeOf(gate.address, temporal);
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

    expect(await watch.lost).toMatchObject({
      code: 'temporal-unavailable',
      message: expect.stringMatching(/start it again/) as string,
    });
  });

  it.each<[string, Refusal, string]>([
    ['its file holds the one that this process read', 16, 'first-key'],
    ['the server still takes the one that this process read', 16, 'second-key'],
  ])('does not give up while %s', async (_what, status, written) => {
    const { gate, writeKey, client, access } = await behindGate(status);
    await writeKey(written);
    if (written === 'first-key') gate.trust('third-key');

    const watch = watchUntilEnd(client, access);
    await sleep(ROUNDS_MS);

    expect(watch.isLost()).toBe(false);
  });
});
