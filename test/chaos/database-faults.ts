import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { StackOptions } from '../support/lote/stack-parts.ts';
import { expectAgreement, readReportOf, withStack, type TestStack } from '../support/lote/stack.ts';
import type { TestInvoice } from '../support/files/batch-file.ts';
import { startPostgresCluster, type PostgresCluster } from '../support/servers/postgres-cluster.ts';
import { sql } from '../support/servers/postgres-database.ts';
import { smallDisk, type SmallDisk } from '../support/crash/small-disk.ts';
import { until } from '../support/until.ts';

/** A fault of the ledger's database, made on the real one. */
export interface DatabaseFault {
  readonly name: string;
  /** For how long, in the long matrix and in the small one. */
  readonly forMs: readonly [long: number, small: number];
  /** Null, with the reason printed: it cannot be made on this machine. */
  readonly make: () => Promise<MadeFault | null>;
}

interface MadeFault {
  readonly place: Pick<StackOptions, 'databaseUrl' | 'ledgerDir'>;
  begin(): Promise<unknown>;
  end(): Promise<unknown>;
  remove(): Promise<unknown>;
}

/** What a fault ended in, for the matrix. */
export interface FaultEnd {
  readonly name: string;
  readonly posts: number;
  readonly failures: number;
  readonly toldWhy: boolean;
}

/** So that something is written while the fault lasts: without it a fast machine is done before. */
const SLOW = { limits: { maxConcurrency: 8, requestsPerSecond: 20 } };
/** Statements are few and short: a rarer cut meets idle connections alone, which are opened anew. */
const CUT_EVERY_MS = 10;
const LOOK_EVERY_MS = 100;
/** The templates of a database, the ledger's tables and some room. */
const POSTGRES_DISK_MB = 40;
/** PGlite's cluster takes 39 MB. */
const PGLITE_DISK_MB = 80;
const FULL_AGAIN_MS = 200;

export const DATABASE_FAULTS: readonly DatabaseFault[] = [
  { name: 'read-only', forMs: [4_000, 3_000], make: () => onOwnCluster(readOnlyDatabase) },
  {
    name: 'restarted',
    forMs: [4_000, 1_000],
    make: () => onOwnCluster(({ kill, restart }) => ({ begin: kill, end: restart })),
  },
  { name: 'connections cut', forMs: [10_000, 2_000], make: () => onOwnCluster(cutConnections) },
  { name: 'disk full', forMs: [60_000, 4_000], make: fullTablespace },
  { name: 'disk full, PGlite', forMs: [60_000, 4_000], make: fullEmbedded },
];

/** One batch through one fault; null: it cannot be made here. Every invoice must be issued once, and the batch must end by itself. */
export async function liveThroughDatabaseFault(
  fault: DatabaseFault,
  { invoices, forMs }: { readonly invoices: number; readonly forMs: number },
): Promise<FaultEnd | null> {
  const made = await fault.make();
  if (made === null) return null;
  try {
    const options = { ...made.place, profile: SLOW, sandbox: { settleMs: 500 } };
    return await withStack(options, async (stack) => {
      await stack.drop('faulty.csv', fileOf(invoices));
      const { handle, batchId } = await stack.start({ file: 'faulty.csv' });
      const ended = handle.result();
      await until(() => stack.posts().length >= Math.ceil(invoices / 5));
      await made.begin();
      const toldWhy = await watch(stack, { batchId, forMs });
      await made.end();

      const result = await ended;

      expect(result).toMatchObject({ state: 'finished', pagesFailed: 0, counts: { invoices, issued: invoices } });
      expect((await readReportOf(result)).invoices).toHaveLength(invoices);
      await expectAgreement(stack, result.batchId);
      expect(stack.sandbox.books().totals).toMatchObject({ invoices, issued: invoices });
      const failures = stack.log.filter((line) => line.includes('ledger-unavailable')).length;
      expect(failures, 'the fault was met').toBeGreaterThan(0);
      return { name: fault.name, posts: stack.posts().length, failures, toldWhy };
    });
  } finally {
    await made.remove();
  }
}

/** Lets the fault last; true when the run said meanwhile that it waits for the ledger. */
async function watch(
  stack: TestStack,
  { batchId, forMs }: { readonly batchId: string; readonly forMs: number },
): Promise<boolean> {
  let notified = false;
  for (const over = performance.now() + forMs; performance.now() < over;) {
    const progress = await stack.progress(stack.client.workflow.getHandle(batchId)).catch(() => null);
    notified ||= progress?.waitingFor?.startsWith('ledger-unavailable') === true;
    await sleep(LOOK_EVERY_MS);
  }
  return notified;
}

function fileOf(invoices: number): readonly TestInvoice[] {
  return Array.from({ length: invoices }, (_, at) => ({ ref: `F-${at + 1}` }));
}

async function ownCluster(): Promise<PostgresCluster | null> {
  const cluster = await startPostgresCluster();
  if (cluster === null) process.stderr.write('\n*** No PostgreSQL binaries: its faults are skipped. ***\n\n');
  return cluster;
}

type Fault = Pick<MadeFault, 'begin' | 'end'>;

/** A fault of a PostgreSQL server of its own. */
async function onOwnCluster(make: (cluster: PostgresCluster) => Fault): Promise<MadeFault | null> {
  const cluster = await ownCluster();
  if (cluster === null) return null;
  return { place: { databaseUrl: cluster.url }, remove: () => cluster.stop(), ...make(cluster) };
}

function readOnlyDatabase({ url }: PostgresCluster): Fault {
  const admin = `${url}?options=-c%20default_transaction_read_only%3Doff`;
  const set = async (change: string): Promise<void> => {
    await sql(admin, `ALTER SYSTEM ${change}`);
    await sql(admin, 'SELECT pg_reload_conf()');
  };
  return {
    begin: () => set('SET default_transaction_read_only = on'),
    end: () => set('RESET default_transaction_read_only'),
  };
}

function cutConnections({ url }: PostgresCluster): Fault {
  let cutting = Promise.resolve();
  let cut = true;
  return {
    async begin() {
      cutting = (async () => {
        while (cut) {
          await sql(url, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'lote'`);
          await sleep(CUT_EVERY_MS);
        }
      })();
    },
    async end() {
      cut = false;
      await cutting;
    },
  };
}

async function fullTablespace(): Promise<MadeFault | null> {
  const cluster = await ownCluster();
  if (cluster === null) return null;
  const disk = await smallDisk(POSTGRES_DISK_MB);
  if (disk === null) {
    await cluster.stop();
    return null;
  }
  const folder = join(disk.path, 'tablespace');
  await mkdir(folder);
  await cluster.own(folder);
  await sql(cluster.url, `CREATE TABLESPACE small LOCATION '${folder}'`);
  await sql(cluster.url, 'CREATE DATABASE small TABLESPACE small');
  const address = new URL(cluster.url);
  address.pathname = '/small';
  return {
    place: { databaseUrl: address.href },
    ...keptFull(disk),
    async remove() {
      await cluster.stop();
      await disk.remove();
    },
  };
}

async function fullEmbedded(): Promise<MadeFault | null> {
  const disk = await smallDisk(PGLITE_DISK_MB);
  if (disk === null) return null;
  return { place: { ledgerDir: join(disk.path, 'ledger') }, ...keptFull(disk), remove: () => disk.remove() };
}

/** Room that the database gives back itself is taken again. */
function keptFull(disk: SmallDisk): Fault {
  let timer: NodeJS.Timeout | undefined;
  return {
    async begin() {
      disk.fill();
      timer = setInterval(() => disk.fill(), FULL_AGAIN_MS);
    },
    async end() {
      clearInterval(timer);
      disk.empty();
    },
  };
}
