import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, inject, it } from 'vitest';
import { withFleet, type WorkerFleet } from '../../support/lote/worker-fleet.ts';
import { startPostgresCluster, type PostgresCluster } from '../../support/servers/postgres-cluster.ts';
import { sql } from '../../support/servers/postgres-schema.ts';
import { tcpProxy, type TcpProxy } from '../../support/servers/tcp-proxy.ts';
import { until } from '../../support/until.ts';

const INVOICES = 120;
/** Where all are sent before the fault. */
const FEW = 30;
const PAGE_SIZE = '20';

interface Servers {
  readonly primary: PostgresCluster;
  readonly standby: PostgresCluster;
  readonly proxy: TcpProxy;
  /** Through the proxy: the one address that processes know. */
  readonly url: string;
}

describe.skipIf(inject('postgresUrl') === null)(
  'a standby of PostgreSQL that is promoted while its primary dies',
  { timeout: 400_000 },
  () => {
    it('with every commit: the batch goes on there, each invoice is issued once, and who follows it is told its end', async () => {
      await withServers(async (servers) => {
        await sql(servers.primary.url, "ALTER SYSTEM SET synchronous_standby_names = '*'");
        await sql(servers.primary.url, 'SELECT pg_reload_conf()');
        const sandbox = { latencyMs: 200, settleMs: 300 };
        const env = { LOTE_PAGE_SIZE: PAGE_SIZE };
        await withFleet({ workers: 2, postgresUrl: servers.url, sandbox, env }, async (fleet) => {
          const batch = await fleet.startFile('night.csv', INVOICES);
          const { place, database } = fleet;
          await until(() => fleet.postTimes().length >= INVOICES / 2);
          const following = ['report', batch.workflowId, '--follow'];
          const follower = fleet.all.start(following, { ...place.env, DATABASE_URL: database.url });
          await follower.said(batch.workflowId);
          await failOver(servers);

          const told = await follower.end;
          expect(told.code, told.stderr).toBe(0);
          expect(told.stdout).toContain('finished');
          expect((await batch.result()).counts).toMatchObject({ invoices: INVOICES, issued: INVOICES });
          expect(fleet.sandbox.books()).toMatchObject({ duplicates: [], totals: { issued: INVOICES } });
          expect(await gaps(fleet)).toEqual([null]);
        });
      });
    });

    it('without the last commits: the ledger counts as older, and other content issues nothing a second time', async () => {
      await withServers(async (servers) => {
        await withFleet({ workers: 1, postgresUrl: servers.url, sandbox: { settleMs: 30_000 } }, async (fleet) => {
          let stopping: Promise<void> | null = null;
          fleet.front.script = async ({ path, method }) => {
            if (method === 'POST' && path === '/v1/merchants') await (stopping ??= stopSending(servers));
            return 'pass' as const;
          };
          const batch = await fleet.startFile('night.csv', FEW);
          await until(async () => (await accepted(fleet)) === FEW);
          await failOver(servers);

          expect((await batch.result()).counts).toMatchObject({ held: FEW });
          expect(fleet.workers[0]?.output()).toContain('the ledger is older than what was sent with it');
          expect(await gaps(fleet)).toEqual([expect.any(String)]);
          const dropped = await readFile(join(fleet.place.inputDir, 'night.csv'), 'utf8');
          await writeFile(join(fleet.place.inputDir, 'other.csv'), dropped.replaceAll('Cliente', 'Cliente Novo'));
          const { counts } = await (await fleet.startDropped('other.csv')).result();
          expect(counts).toMatchObject({ conflict: FEW });
          expect(fleet.sandbox.books().totals).toMatchObject({ invoices: FEW });
        });
      });
    });
  },
);

async function withServers(test: (servers: Servers) => Promise<void>): Promise<void> {
  const primary = (await startPostgresCluster()) as PostgresCluster;
  const standby = await primary.standby();
  const url = new URL(primary.url);
  const proxy = await tcpProxy(url.host);
  url.host = proxy.address;
  try {
    await test({ primary, standby, proxy, url: url.href });
  } finally {
    await proxy.cut();
    await standby.stop();
    await primary.stop();
  }
}

async function failOver({ primary, standby, proxy }: Servers): Promise<void> {
  await primary.kill();
  await standby.promote();
  proxy.leadTo(new URL(standby.url).host);
}

/** The standby gets nothing any more, and the primary goes on without it. */
async function stopSending({ primary }: Servers): Promise<void> {
  const client = new pg.Client({ connectionString: primary.url });
  await client.connect();
  const { rows } = await client.query<{ pid: number }>('SELECT pid FROM pg_stat_replication');
  await client.end();
  for (const { pid } of rows) process.kill(pid, 'SIGSTOP');
}

async function accepted({ database }: WorkerFleet): Promise<number> {
  return (await database.rows("SELECT 1 FROM invoice WHERE state IN ('accepted', 'issued')")).length;
}

async function gaps({ database }: WorkerFleet): Promise<readonly (string | null)[]> {
  const rows = await database.rows<{ gap_since: string | null }>('SELECT gap_since FROM sending_mark');
  return rows.map((row) => row.gap_since);
}
