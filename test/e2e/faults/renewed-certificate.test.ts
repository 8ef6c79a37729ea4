import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { testFleet } from '../../support/lote/fleet.ts';
import { selfSigned } from '../../support/servers/key-gate.ts';
import { tlsProxy } from '../../support/servers/proxies.ts';

const ROLES = ['worker', 'receiver', 'console'] as const;
/** Two rounds of the watch. */
const ROUNDS_MS = 12_000;

/** Every role, behind a proxy that trusts the certificate that they have read. */
async function startedRoles() {
  const [server, first, second] = [selfSigned('valid'), selfSigned('valid'), selfSigned('valid')];
  const proxy = await tlsProxy(inject('temporalAddress'), server, first.cert);
  onTestFinished(() => proxy.close());
  const fleet = await testFleet({
    ...{ temporalAddress: proxy.address, env: { HEALTH_PORT: '0', RECEIVER_PORT: '0', CONSOLE_PORT: '0' } },
  });
  const path = (name: string): string => join(fleet.place.directory, name);
  const write = async ({ cert, key }: typeof first): Promise<void> => {
    await writeFile(path('client.crt'), cert);
    await writeFile(path('client.key'), key);
  };
  const env = {
    TEMPORAL_TLS_SERVER_CA_CERT_PATH: path('server.crt'),
    TEMPORAL_TLS_CLIENT_CERT_PATH: path('client.crt'),
    TEMPORAL_TLS_CLIENT_KEY_PATH: path('client.key'),
  };
  await writeFile(path('server.crt'), server.cert);
  await write(first);
  const commands = ROLES.map((role) => fleet.start(role, env));
  for (const [at, said] of ['Worker on task queue', 'Receiver http', 'Console http'].entries())
    await commands[at]?.said(said);
  let ended = 0;
  for (const { end } of commands) void end.then(() => (ended += 1));
  return {
    proxy,
    second,
    write,
    commands,
    worker: commands[0],
    ended: () => ended,
    startWorker: () => fleet.start('worker', env),
  };
}

describe.skipIf(inject('postgresUrl') === null)('a process whose client certificate was renewed in its file', () => {
  it('ends when Temporal refuses the old one, and the next one comes up; without a renewal it waits', async () => {
    const { proxy, second, write, commands, worker, ended, startWorker } = await startedRoles();

    proxy.trust(second.cert);
    await worker?.said('temporal does not answer; work stands still until it does');
    await sleep(ROUNDS_MS);
    expect(ended()).toBe(0);

    await write(second);
    for (const command of commands) {
      const { code, stderr } = await command.end;
      expect(code, stderr).toBe(3);
      expect(stderr).toContain('their files hold something else now');
      expect(stderr).not.toContain('Unforeseen');
    }
    await startWorker().said('Worker on task queue');
  });
});
