import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startPostgresCluster } from '../../test/support/servers/postgres-cluster.ts';
import { runLote } from '../run-lote.ts';
import { startSandbox } from '../sandbox.ts';
import type { Use } from './costs.ts';

interface Ledger {
  readonly rows: number;
  readonly walBytes: number;
  readonly guardBytes: number;
  readonly otherBytes: number;
}

/** Issues a file of so many invoices on a PostgreSQL of its own, and measures what that used. @throws Error without PostgreSQL */
export async function measureSize(invoices: number): Promise<Use> {
  const cluster = await startPostgresCluster({ durable: true });
  if (cluster === null) throw new Error('Measuring needs PostgreSQL (initdb and postgres) on this machine.');
  const directory = await mkdtemp(join(tmpdir(), 'lote-scale-'));
  const sandbox = await startSandbox();
  const client = new pg.Client({ connectionString: cluster.url });
  try {
    await client.connect();
    let before: Ledger = { rows: 0, walBytes: 0, guardBytes: 0, otherBytes: 0 };
    const run = await runLote({
      ...{ ledger: 'postgres', databaseUrl: cluster.url, databasePid: cluster.pid, sandboxUrl: sandbox.first.url },
      ...{ directory, invoices, profileDir: null, metrics: false, node: process.execPath },
      beforeMeasured: async () => {
        before = await ledgerOf(client);
      },
    });
    const after = await ledgerOf(client);
    return {
      ...{ loteCpuMs: run.cpuMs, temporalCpuMs: run.temporalCpuMs, postgresCpuMs: run.databaseCpuMs },
      events: run.historyEvents,
      rows: after.rows - before.rows,
      walBytes: after.walBytes - before.walBytes,
      guardBytes: after.guardBytes - before.guardBytes,
      otherBytes: after.otherBytes - before.otherBytes,
    };
  } finally {
    await client.end();
    await sandbox.end();
    await cluster.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

/** Tables of the ledger, without the server's own. */
const TABLES = `SELECT c.oid::regclass::text AS name, pg_total_relation_size(c.oid)::float8 AS bytes,
  c.relname IN ('invoice', 'invoice_generation') AS guard
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema')`;

async function ledgerOf(client: pg.Client): Promise<Ledger> {
  const tables = await client.query<{ name: string; bytes: number; guard: boolean }>(TABLES);
  let rows = 0;
  for (const { name } of tables.rows) {
    const counted = await client.query<{ rows: number }>(`SELECT count(*)::float8 AS rows FROM ${name}`);
    rows += counted.rows[0]?.rows ?? 0;
  }
  const wal = await client.query<{ bytes: number }>(
    "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS bytes",
  );
  const bytesOf = (guard: boolean) =>
    tables.rows.filter((table) => table.guard === guard).reduce((sum, { bytes }) => sum + bytes, 0);
  return { rows, walBytes: wal.rows[0]?.bytes ?? 0, guardBytes: bytesOf(true), otherBytes: bytesOf(false) };
}
