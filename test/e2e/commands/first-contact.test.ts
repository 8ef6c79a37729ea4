import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Sandbox } from '../../../src/sandbox/sandbox.ts';
import { writeInvoiceFile } from '../../support/files/invoice-file.ts';
import { newPlace, type Place, type RunningCommand } from '../../support/lote/lote-command.ts';
import { ownPort } from '../../support/servers/own-port.ts';
import { postgresDatabase, type PostgresDatabase } from '../../support/servers/postgres-database.ts';
import { processes } from '../../support/lote/processes.ts';
import { independentSandbox, SANDBOX_KEY } from '../../support/servers/sandbox-books.ts';
import { startServiceFront, type ServiceFront } from '../../support/servers/service-front.ts';

const INVOICES = 12;
const server = inject('postgresUrl');

/** Takes connections and never answers. */
async function silentServer(): Promise<{ server: Server; url: string; connections: () => number }> {
  let connections = 0;
  const silent = createServer(() => (connections += 1));
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  return { server: silent, url: `http://127.0.0.1:${port}`, connections: () => connections };
}

describe.skipIf(server === null)('a service that is configured wrongly at first', { timeout: 300_000 }, () => {
  const all = processes();
  let place: Place;
  let database: PostgresDatabase;
  let sandbox: Sandbox;
  let front: ServiceFront;
  let client: Record<string, string>;

  beforeAll(async () => {
    place = await newPlace();
    database = await postgresDatabase(server ?? '');
    sandbox = await independentSandbox();
    front = await startServiceFront(sandbox.url);
    client = {
      ...place.env,
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: inject('temporalAddress'),
      LOTE_TASK_QUEUE: `lote-${randomBytes(4).toString('hex')}`,
      LOTE_SETTLE_TIMEOUT: '10s',
    };
  }, 120_000);

  afterAll(async () => {
    await all.killAll();
    await front.close();
    await sandbox.close();
    await database.drop();
    await place.remove();
  }, 120_000);

  /** Worker and receiver, up; each still runs when `use` has ended. */
  async function deployed<T>(service: { url: string; key: string }, use: () => Promise<T>): Promise<T> {
    const env = {
      ...client,
      INVOICING_BASE_URL: service.url,
      INVOICING_API_KEY: service.key,
      RECEIVER_PORT: String(await ownPort()),
    };
    const parts: RunningCommand[] = [all.start(['worker'], env), all.start(['receiver'], env)];
    await Promise.all([parts[0]?.said('Worker on task queue'), parts[1]?.said('Receiver http')]);
    const ended = Promise.race(parts.map(async ({ end }) => Promise.reject(new Error((await end).stderr))));
    ended.catch(() => undefined);
    try {
      return await Promise.race([use(), ended]);
    } finally {
      for (const part of parts) part.killGroup();
    }
  }

  it('leaves nothing behind: a mistyped address, then a wrong key, then the right ones, and all is issued once', async () => {
    const file = join(place.inputDir, 'first.csv');
    await writeInvoiceFile(file, { invoices: INVOICES });
    const silent = await silentServer();

    const run = await deployed({ url: silent.url, key: SANDBOX_KEY }, async () => {
      const started = all.start(['run', file, '--json'], client);
      await expect.poll(() => silent.connections()).toBeGreaterThan(0);
      return started;
    });
    silent.server.close();
    await deployed({ url: front.url, key: 'sk_test_mistyped' }, async () => {
      const refused = () => front.requests.filter(({ authorization }) => authorization === 'Bearer sk_test_mistyped');
      await expect.poll(() => refused().length).toBeGreaterThan(0);
    });
    const { code, stdout, stderr } = await deployed({ url: front.url, key: SANDBOX_KEY }, () => run.end);

    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ batches: [{ counts: { invoices: INVOICES, issued: INVOICES } }] });
    expect(sandbox.books().duplicates).toEqual([]);
    expect(sandbox.books().totals).toMatchObject({ invoices: INVOICES, issued: INVOICES });
  });

  it('is refused from then on: the account that answered is the one of this ledger', async () => {
    const env = {
      ...client,
      INVOICING_BASE_URL: sandbox.url,
      INVOICING_API_KEY: SANDBOX_KEY,
      RECEIVER_PORT: String(await ownPort()),
    };

    const { code, stderr } = await all.start(['worker'], env).end;

    expect(code).toBe(3);
    expect(stderr).toContain(`the address was ${front.url} and is ${sandbox.url}`);
  });
});
