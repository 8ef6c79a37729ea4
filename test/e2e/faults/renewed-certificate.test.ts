import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { distributedPlace } from '../../support/lote/distributed-place.ts';
import { selfSigned } from '../../support/files/self-signed.ts';
import { sharedTemporal } from '../../support/servers/shared-temporal.ts';
import { tlsProxy } from '../../support/servers/tls-proxy.ts';

/** Each with the line that says that it is up. */
const ROLES = [
  ['worker', 'Worker on task queue'],
  ['receiver', 'Receiver http'],
  ['console', 'Console http'],
] as const;
/** Two rounds of the watch. */
const ROUNDS_MS = 12_000;

/** Every role, behind a proxy that trusts the certificate that they have read. */
async function startedRoles() {
  const { TEMPORAL_ADDRESS: behind, ...names } = sharedTemporal();
  const [server, first, second] = [selfSigned('valid'), selfSigned('valid'), selfSigned('valid')];
  const proxy = await tlsProxy(behind ?? '', server, first.cert);
  const ports = { HEALTH_PORT: '0', RECEIVER_PORT: '0', CONSOLE_PORT: '0' };
  const there = await distributedPlace({
    ...{ postgresUrl: inject('postgresUrl') ?? '', temporalAddress: proxy.address, env: { ...names, ...ports } },
  });
  onTestFinished(async () => {
    await there.remove();
    await proxy.close();
  });
  const path = (name: string): string => join(there.place.directory, name);
  const write = async ({ cert, key }: typeof first): Promise<void> => {
    await writeFile(path('client.crt'), cert);
    await writeFile(path('client.key'), key);
  };
  const env = {
    ...there.env,
    TEMPORAL_TLS_SERVER_CA_CERT_PATH: path('server.crt'),
    TEMPORAL_TLS_CLIENT_CERT_PATH: path('client.crt'),
    TEMPORAL_TLS_CLIENT_KEY_PATH: path('client.key'),
  };
  await writeFile(path('server.crt'), server.cert);
  await write(first);
  const started = ROLES.map(([role, line]) => ({ line, command: there.processes.start([role], env) }));
  for (const { command, line } of started) await command.said(line);
  let ended = 0;
  for (const { command } of started) void command.end.then(() => (ended += 1));
  const commands = started.map(({ command }) => command);
  const startWorker = () => there.processes.start(['worker'], env);
  return { proxy, first, second, write, commands, worker: commands[0], ended: () => ended, startWorker };
}

describe.skipIf(inject('postgresUrl') === null)('a process whose client certificate was renewed in its file', () => {
  it(
    'ends when Temporal refuses the old one, and the next one comes up; without a renewal it waits',
    { timeout: 300_000 },
    async () => {
      const { proxy, second, write, commands, worker, ended, startWorker } = await startedRoles();

      proxy.trust(second.cert);
      await worker?.said('temporal does not answer; work stands still until it does');
      await sleep(ROUNDS_MS);
      expect(ended()).toBe(0);

      await write(second);
      for (const command of commands) {
        const { code, stderr } = await command.end;
        expect(code, stderr).toBe(3);
        expect(stderr).toContain('it answers to what their files hold now');
        expect(stderr).not.toContain('Unforeseen');
      }
      await startWorker().said('Worker on task queue');
    },
  );

  it('goes on when Temporal is away for a moment and trusts the old one, too', { timeout: 300_000 }, async () => {
    const { proxy, first, second, write, worker, ended } = await startedRoles();
    proxy.trust(first.cert, second.cert);
    await write(second);

    await proxy.goAway();
    await worker?.said('temporal does not answer; work stands still until it does');
    await proxy.comeBack();

    await worker?.said('temporal answers again');
    await sleep(ROUNDS_MS);
    expect(ended()).toBe(0);
  });
});
