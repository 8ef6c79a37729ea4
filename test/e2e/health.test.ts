import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ownTemporal, startFleet, type Fleet, type OwnTemporal } from '../support/lote/fleet.ts';
import type { RunningCommand } from '../support/lote/lote-command.ts';
import { startPostgresCluster, type PostgresCluster } from '../support/servers/postgres-cluster.ts';
import { until } from '../support/until.ts';

interface Health {
  readonly code: number;
  readonly body: { readonly status: string; readonly parts?: Readonly<Record<string, string>> };
}

async function ask(url: string): Promise<Health> {
  const answer = await fetch(url);
  return { code: answer.status, body: (await answer.json()) as Health['body'] };
}

/** Protocol, host and port that a process says behind a word. */
async function addressIn(command: RunningCommand, word: string): Promise<string> {
  const line = new RegExp(`${word} +(http://[\\d.]+:\\d+)\\b.*\n`);
  await command.said(`${word} http`);
  await until(async () => line.test(command.output()));
  return line.exec(command.output())?.[1] ?? '';
}

const cluster: PostgresCluster | null = await startPostgresCluster();

describe.skipIf(cluster === null)('the health of each process', () => {
  let temporal: OwnTemporal;
  let fleet: Fleet;
  let worker: RunningCommand;
  const urls = { worker: '', receiver: '', console: '' };

  beforeAll(async () => {
    temporal = await ownTemporal();
    fleet = await startFleet({
      postgresUrl: cluster?.url ?? '',
      temporalAddress: temporal.server.address,
      // Any free one: a port that is named before it is listened on may be taken by then.
      env: { HEALTH_PORT: '0', RECEIVER_PORT: '0', CONSOLE_PORT: '0' },
    });
    worker = fleet.start('worker');
    const [receiver, console] = [fleet.start('receiver'), fleet.start('console')];
    urls.worker = await addressIn(worker, 'health at');
    urls.receiver = await addressIn(receiver, 'Receiver');
    urls.console = await addressIn(console, 'Console');
  });

  afterAll(async () => {
    await fleet.remove().catch(() => undefined);
    await temporal.stop();
    await cluster?.stop();
  });

  it('is told by words: alive, and ready', async () => {
    for (const url of Object.values(urls)) {
      expect(await ask(`${url}/health/live`)).toEqual({ code: 200, body: { status: 'live' } });
      expect(await ask(`${url}/health/ready`)).toMatchObject({ code: 200, body: { status: 'ready' } });
    }
    expect((await ask(`${urls.worker}/health`)).body.parts).toEqual({
      ...{ ledger: 'ok', temporal: 'ok', worker: 'ok', folders: 'ok' },
    });
  });

  it('is trouble while PostgreSQL is away, though each process lives, and good again when it is back', async () => {
    await cluster?.kill();

    for (const url of [`${urls.worker}/health`, `${urls.receiver}/health`, `${urls.console}/health/ready`]) {
      const { code, body } = await ask(url);
      expect({ url, code, status: body.status }).toEqual({ url, code: 503, status: 'trouble' });
      expect(body.parts?.['ledger']).toBe('trouble');
    }
    expect((await ask(`${urls.console}/api/health`)).code).toBe(503);
    expect((await fetch(`${urls.console}/health`)).status).toBe(503);
    for (const url of Object.values(urls)) expect((await ask(`${url}/health/live`)).code).toBe(200);

    await cluster?.restart();
    for (const url of Object.values(urls)) await until(async () => (await ask(`${url}/health/ready`)).code === 200);
  });

  it('is trouble in the worker while Temporal is away; the log says it once, and once that it is back', async () => {
    temporal.server.kill();
    await temporal.server.ended();
    await worker.said('temporal does not answer');

    const { code, body } = await ask(`${urls.worker}/health/ready`);
    expect({ code, parts: body.parts }).toMatchObject({ code: 503, parts: { temporal: 'trouble', ledger: 'ok' } });
    expect((await ask(`${urls.worker}/health/live`)).code).toBe(200);

    await temporal.restart();
    await worker.said('temporal answers again');
    await until(async () => (await ask(`${urls.worker}/health/ready`)).code === 200);
    worker.signal('SIGTERM');
    const { stderr } = await worker.end;
    expect(stderr.split('temporal does not answer')).toHaveLength(2);
    expect(stderr.split('temporal answers again')).toHaveLength(2);
  });
});
