import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Database } from '../../../src/database/database.ts';
import { openPostgresDatabase } from '../../../src/database/open-postgres-database.ts';
import { openPostgresLedger } from '../../../src/ledger/open-postgres-ledger.ts';
import { startPostgresCluster, type PostgresCluster } from '../../support/servers/postgres-cluster.ts';
import { pooler, tcpProxy } from '../../support/servers/proxies.ts';
import { sql } from '../../support/servers/postgres-database.ts';
import { smallDisk } from '../../support/crash/small-disk.ts';
import { createScenario } from './scenario.ts';

const cluster = await startPostgresCluster();
const WRITE = 'UPDATE counter SET n = n + 1';
const CONNECTIONS = 10;
const RELOAD_MS = 2_000;

/** Faults of a server of its own, as its clients meet them. */
describe.skipIf(cluster === null)('a PostgreSQL server', () => {
  const { url, kill, restart, promote, own, stop } = cluster as PostgresCluster;
  /** Of an operator, who is not kept from writing by the default. */
  const admin = `${url}?options=-c%20default_transaction_read_only%3Doff`;
  /** The server limits the connections of this user; a superuser has no limit. */
  const guest = new URL(url);
  guest.username = 'guest';
  let database: Database;
  beforeAll(async () => {
    database = openPostgresDatabase({ connectionString: url });
    await database.query('CREATE TABLE counter (n integer)');
    await database.query('INSERT INTO counter VALUES (0)');
    await sql(url, 'CREATE ROLE guest LOGIN');
  });
  afterAll(async () => {
    await database.close();
    await stop();
  });

  it('that was made read-only is unavailable, and works again on connections of its own when it takes writes', async () => {
    await Promise.all(Array.from({ length: CONNECTIONS }, () => database.query('SELECT pg_sleep(0.05)')));
    await readOnly(true);
    const onLiveConnection = await failureOf(() => database.query(WRITE));
    const onNewConnection = await failureOf(() => database.query(WRITE));
    await readOnly(false);

    expect(onLiveConnection).toMatchObject({ code: 'ledger-unavailable', sqlState: '25006' });
    expect(onNewConnection).toMatchObject({ code: 'ledger-unavailable', sqlState: '25006' });
    // Not one of the ten that were idle then is used again.
    await expect(
      Promise.all(Array.from({ length: CONNECTIONS * 2 }, () => database.query(WRITE))),
    ).resolves.toHaveLength(CONNECTIONS * 2);
  });

  it('that was promoted elsewhere is found: connections to a demoted one are not used again', async () => {
    await Promise.all(Array.from({ length: CONNECTIONS }, () => database.query('SELECT pg_sleep(0.05)')));
    await readOnly(true);
    // Only the sessions that live now stay read-only: as on the old primary, while the address leads to the new one already.
    await sql(admin, 'ALTER ROLE lote SET default_transaction_read_only = off');
    const failure = await failureOf(() => database.query(WRITE));

    expect(failure).toMatchObject({ code: 'ledger-unavailable', sqlState: '25006' });
    for (let count = 0; count < CONNECTIONS * 2; count += 1) await database.query(WRITE);
    await readOnly(false);
    await sql(admin, 'ALTER ROLE lote RESET default_transaction_read_only');
  });

  it('that ends its connections, or whose network does, is unavailable for what was under way and works at once', async () => {
    const { proxy, through } = await throughProxy();
    const underWay = failureOf(() => through.query('SELECT pg_sleep(60)'));
    await sleep(200);
    proxy.reset();

    expect(await underWay).toMatchObject({ code: 'ledger-unavailable' });
    expect(await through.query('SELECT 1 AS n')).toEqual([{ n: 1 }]);
    const ended = failureOf(() => through.query('SELECT pg_terminate_backend(pg_backend_pid())'));
    expect(await ended).toMatchObject({ code: 'ledger-unavailable' });
    expect(await through.query('SELECT 1 AS n')).toEqual([{ n: 1 }]);
  });

  it('that can no longer be heard, on connections that stay open, is unavailable for what was under way, and works on new ones', async () => {
    const { proxy, through } = await throughProxy({ longestStatementMs: 3_000 });
    const all = (text: string) => Promise.all(Array.from({ length: CONNECTIONS }, () => through.query(text)));
    await all('/* test */ SELECT pg_sleep(0.1)');
    proxy.freeze();

    expect(await failureOf(() => all('/* test */ SELECT 1'))).toMatchObject({ code: 'ledger-unavailable' });
    expect(await all('/* test */ SELECT 1 AS n')).toHaveLength(CONNECTIONS);
  });

  it.each(['sending-batches', 'find-fact', 'record-accepted', 'insert-deliveries', 'settled-invoices', 'lock-heard'])(
    'that can no longer be heard keeps %s waiting for seconds, not for the minutes of a large statement',
    async (name) => {
      const { proxy, through } = await throughProxy({ longestQuickMs: 1_000 });
      const statement = `/* ${name} */ SELECT 1 AS n`;
      await through.query(statement);
      proxy.freeze();

      expect(await failureOf(() => through.query(statement))).toMatchObject({ code: 'ledger-unavailable' });
      expect(await through.query(statement)).toEqual([{ n: 1 }]);
    },
  );

  it('that gives a role a time limit for statements lets long ones of the ledger end', async () => {
    await sql(url, "ALTER ROLE guest SET statement_timeout = '100ms'");
    const limited = openPostgresDatabase({ connectionString: guest.href });
    onTestFinished(() => limited.close());

    expect(await limited.query('SELECT pg_sleep(0.3), 1 AS n')).toMatchObject([{ n: 1 }]);
    await sql(url, 'ALTER ROLE guest RESET statement_timeout');
  });

  it('that purges, or tidies its tables, may take as long as it takes', async () => {
    const longest = openPostgresDatabase({ connectionString: url, longestStatementMs: 3_000 });
    const names = ['/* purge-bodies ', '/* lock-purged-invoices ', '/* tidy-tables '];

    const all = names.map((name) => longest.query(`${name}*/ SELECT 1 AS n FROM pg_sleep(4)`));

    expect(await Promise.all(all)).toEqual(names.map(() => [{ n: 1 }]));
    await longest.close();
  });

  it('that has few connections to spare is waited for: what needs a connection of its own gets one when another is free', async () => {
    await limitConnections(3);
    const few = openPostgresDatabase({ connectionString: guest.href });
    const all = Array.from({ length: CONNECTIONS * 2 }, () => few.query('SELECT pg_sleep(0.05)'));

    await expect(Promise.all(all)).resolves.toHaveLength(CONNECTIONS * 2);
    await few.close();
    await limitConnections(-1);
  });

  it('that has no connection to spare for longer than one may take is unavailable, and says so', async () => {
    await limitConnections(0);
    const none = openPostgresDatabase({ connectionString: guest.href });

    expect(await failureOf(() => none.query('SELECT 1'))).toMatchObject({
      code: 'ledger-unavailable',
      sqlState: '53300',
      message: expect.stringContaining('too many connections') as unknown,
    });
    await limitConnections(-1);
    expect(await none.query('SELECT 1 AS n')).toEqual([{ n: 1 }]);
    await none.close();
  });

  it('that crashed is unavailable until it is back; who opens the ledger while it starts waits for it', async () => {
    await kill();
    expect(await failureOf(() => database.query(WRITE))).toMatchObject({ code: 'ledger-unavailable' });
    await restart('closed-standby');
    expect(await failureOf(() => database.query(WRITE))).toMatchObject({
      code: 'ledger-unavailable',
      sqlState: '57P03',
    });
    const opening = openPostgresLedger({ connectionString: url, schema: 'opened_late' });
    await sleep(1_000);
    await promote();

    const ledger = await opening;

    expect(ledger.id).not.toBe('');
    await ledger.close();
    await expect(database.query(WRITE)).resolves.toEqual([]);
  });

  it('whose restore has not yet come to its unique indexes is unavailable until it has', async () => {
    const ledger = await openPostgresLedger({ connectionString: url });
    onTestFinished(() => ledger.close());
    const save = () => ledger.saveMerchants('restored', [{ nif: '501964843', merchantId: 'mrc_1' }]);
    await sql(url, 'ALTER TABLE merchant DROP CONSTRAINT merchant_pkey');

    expect(await failureOf(save)).toMatchObject({ code: 'ledger-unavailable', sqlState: '42P10' });
    await sql(url, 'ALTER TABLE merchant ADD PRIMARY KEY (application, nif)');
    expect(await save()).toEqual([]);
  });

  it('whose disk is full is unavailable, and takes what it refused when there is room', async ({ skip }) => {
    const disk = await smallDisk(24);
    if (disk === null) return skip();
    const folder = join(disk.path, 'tablespace');
    await mkdir(folder);
    await own(folder);
    await sql(url, `CREATE TABLESPACE small LOCATION '${folder}'`);
    await database.query('CREATE TABLE big (text text) TABLESPACE small');
    disk.fill();
    const failure = await failureOf(async () => {
      for (;;)
        await database.query(`INSERT INTO big SELECT repeat(md5(random()::text), 60) FROM generate_series(1, 100)`);
    });
    const reading = await database.query('SELECT count(*) > 0 AS some FROM counter');
    disk.empty();

    expect(failure).toMatchObject({ code: 'ledger-unavailable', sqlState: '53100' });
    expect(reading).toEqual([{ some: true }]);
    await expect(database.query(`INSERT INTO big VALUES ('late')`)).resolves.toEqual([]);
    await database.query('DROP TABLE big');
    await sql(url, 'DROP TABLESPACE small');
    await disk.remove();
  });

  async function throughProxy(limits: Omit<Parameters<typeof openPostgresDatabase>[0], 'connectionString'> = {}) {
    const proxy = await tcpProxy(new URL(url).host);
    const address = new URL(url);
    address.host = proxy.address;
    const through = openPostgresDatabase({ connectionString: address.href, ...limits });
    onTestFinished(async () => {
      await through.close();
      await proxy.cut();
    });
    return { proxy, through };
  }

  async function limitConnections(limit: number): Promise<void> {
    await sql(url, `ALTER ROLE guest CONNECTION LIMIT ${limit}`);
  }

  async function readOnly(on: boolean): Promise<void> {
    const change = on ? 'SET default_transaction_read_only = on' : 'RESET default_transaction_read_only';
    await sql(admin, `ALTER SYSTEM ${change}`);
    await sql(admin, 'SELECT pg_reload_conf()');
    // The signal takes a moment to come to the sessions.
    await sleep(RELOAD_MS);
  }
});

/** It says that a commit is done, and writes it to the disk much later. */
const LATE = { synchronous_commit: 'off', wal_writer_delay: '10s', wal_writer_flush_after: '0' };

describe.skipIf(cluster === null)('a PostgreSQL server that answers before a commit is on the disk', () => {
  it('loses nothing of the ledger when it crashes: an invoice whose POST may have left stays frozen', async () => {
    const { url, kill, restart, stop } = (await startPostgresCluster({ settings: LATE })) as PostgresCluster;
    onTestFinished(() => stop());
    const ledger = await openPostgresLedger({ connectionString: url });
    onTestFinished(() => ledger.close());
    const batch = await createScenario(ledger).run(['posted']);
    await batch.freeze('posted', '{"bytes":"1.10"}');
    await kill();
    await restart();

    await expect(batch.one('posted')).resolves.toMatchObject({ state: 'sending', mayExist: true });
  });

  it('is refused behind a pooler, which may take away what Lote sets, until the role waits for the disk', async () => {
    const { url, stop } = (await startPostgresCluster({ settings: { synchronous_commit: 'off' } })) as PostgresCluster;
    onTestFinished(() => stop());
    const between = await pooler(new URL(url).host);
    onTestFinished(() => between.close());
    const pooled = new URL(url);
    pooled.host = between.address;
    const through = { connectionString: pooled.href };

    const refused = await failureOf(() => openPostgresLedger(through));
    await sql(url, 'ALTER ROLE lote SET synchronous_commit = on');
    const ledger = await openPostgresLedger(through);
    await ledger.close();

    expect(refused).toMatchObject({ code: 'ledger-unavailable' });
    expect(String(refused)).toContain('ALTER ROLE');
  });
});

async function failureOf(work: () => Promise<unknown>): Promise<unknown> {
  return work().then(
    () => null,
    (error: unknown) => error,
  );
}
