import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import type { BatchProgress } from '../../../src/domain/messages/messages.ts';
import { testFleet, type Fleet } from '../../support/lote/fleet.ts';
import { startPostgresCluster, type PostgresCluster } from '../../support/servers/postgres-cluster.ts';
import { sql } from '../../support/servers/postgres-database.ts';
import { tcpProxy, type TcpProxy } from '../../support/servers/proxies.ts';
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
  () => {
    it('with every commit: the batch goes on there, each invoice is issued once, and who follows it is told its end', async () => {
      const servers = await startServers();
      await sql(servers.primary.url, "ALTER SYSTEM SET synchronous_standby_names = '*'");
      await sql(servers.primary.url, 'SELECT pg_reload_conf()');
      const fleet = await testFleet({
        ...{ roles: ['receiver', 'worker', 'worker'], isProved: true, postgresUrl: servers.url },
        ...{ sandbox: { latencyMs: 200, settleMs: 300 }, env: { LOTE_PAGE_SIZE: PAGE_SIZE } },
      });
      const batch = await fleet.startFile('night.csv', INVOICES);
      await until(() => fleet.postTimes().length >= INVOICES / 2);
      const following = ['report', batch.workflowId, '--follow'];
      const follower = fleet.all.start(following, { ...fleet.place.env, DATABASE_URL: fleet.database.url });
      await follower.said(batch.workflowId);
      await failOver(servers);

      const told = await follower.end;
      expect(told.code, told.stderr).toBe(0);
      expect(told.stdout).toContain('finished');
      expect((await batch.result()).counts).toMatchObject({ invoices: INVOICES, issued: INVOICES });
      fleet.expectIssued(INVOICES);
    });

    it('without the last commits: the ledger counts as older, and other content issues nothing a second time', async () => {
      const servers = await startServers();
      const fleet = await testFleet({
        ...{ roles: ['receiver', 'worker'], isProved: true, postgresUrl: servers.url, sandbox: { settleMs: 30_000 } },
      });
      let stopping: Promise<void> | null = null;
      fleet.front.script = async ({ path, method }) => {
        if (method === 'POST' && path === '/v1/merchants') await (stopping ??= stopSending(servers));
        return 'pass' as const;
      };
      const batch = await fleet.startFile('night.csv', FEW);
      await until(async () => (await accepted(fleet)) === FEW);
      await failOver(servers);

      await until(async () =>
        ((await batch.query<BatchProgress>('progress')).waitingFor ?? '').includes('lote confirm-ledger'),
      );
      const confirmed = await fleet.all.start(['confirm-ledger'], fleet.env).end;
      expect(confirmed.stdout, confirmed.stderr).toContain(`Confirmed: ${FEW} invoices`);
      expect((await batch.result()).counts).toMatchObject({ held: FEW });
      const dropped = await readFile(join(fleet.place.inputDir, 'night.csv'), 'utf8');
      await writeFile(join(fleet.place.inputDir, 'other.csv'), dropped.replaceAll('Cliente', 'Cliente Novo'));
      const { counts } = await (await fleet.startDropped('other.csv')).result();
      expect(counts).toMatchObject({ conflict: FEW });
      expect(fleet.sandbox.books().totals).toMatchObject({ invoices: FEW });
    });
  },
);

async function startServers(): Promise<Servers> {
  const primary = (await startPostgresCluster()) as PostgresCluster;
  const standby = await primary.standby();
  const url = new URL(primary.url);
  const proxy = await tcpProxy(url.host);
  url.host = proxy.address;
  onTestFinished(async () => {
    await proxy.cut();
    await standby.stop();
    await primary.stop();
  });
  return { primary, standby, proxy, url: url.href };
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

async function accepted({ database }: Fleet): Promise<number> {
  return (await database.rows("SELECT 1 FROM invoice WHERE state IN ('accepted', 'issued')")).length;
}
