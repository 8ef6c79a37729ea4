import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { readConfig } from '../../../../src/runtime/config/config.ts';
import { lazyClient, placeOf } from '../../../../src/wiring/temporal/connect-client.ts';
import { watchAccess, watchTemporal } from '../../../../src/wiring/temporal/watch-temporal.ts';
import { selfSigned } from '../../../support/servers/https-server.ts';
import { keyGate, type Refusal } from '../../../support/servers/key-gate.ts';
import { until } from '../../../support/until.ts';
import { temporaryDirectory } from '../../../unit/runtime/temporary-directory.ts';

/** What a process has read of a server that wants an API key from a file. */
async function behindGate(status: Refusal) {
  const directory = await temporaryDirectory();
  const own = selfSigned('valid');
  const gate = await keyGate(inject('temporalAddress'), own, { trusted: 'first-key', status });
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
  ])('gives up once the server takes the new key, and of the old one %s', async (_what, status) => {
    const { gate, writeKey, client, access } = await behindGate(status);
    const watch = watchAccess(client, access);
    onTestFinished(() => watch.stop());
    let isLost = false;
    watch.lost.catch(() => (isLost = true));
    await client.workflowService.getSystemInfo({});

    gate.trust('second-key');
    await until(async () => client.workflowService.getSystemInfo({}).then(...REFUSED));
    expect(isLost).toBe(false);
    await writeKey('second-key');

    await expect(watch.lost).rejects.toMatchObject({
      code: 'temporal-unavailable',
      message: expect.stringMatching(/start it again/) as string,
    });
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

const REFUSED = [() => false, () => true] as const;
