import { randomBytes } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { acquireTemporalBinary } from '../../src/runtime/temporal-binary.ts';
import { startTemporalServer } from '../../src/runtime/temporal-server.ts';
import { writeInvoiceFile } from './invoice-file.ts';
import { newPlace, type CommandEnd, type RunningCommand } from './lote-command.ts';
import { ownPort } from './own-port.ts';
import { startPostgresCluster } from './postgres-cluster.ts';
import { processes } from './processes.ts';
import { independentSandbox, SANDBOX_KEY } from './sandbox-books.ts';
import { until } from './until.ts';

/** Who is killed: the process that comes to the point, or a server it depends on while it stands still there. */
export type Victim = 'itself' | 'database' | 'temporal';

export interface CrashCase {
  /** The process that comes to the point. */
  readonly part: 'worker' | 'receiver';
  /** `<point>[:<which time>]` */
  readonly point: string;
  readonly victim: Victim;
}

export interface CrashEnd {
  readonly posts: number;
  readonly seconds: number;
}

/** The distributed form with servers of its own, so that each of them can be killed: one file after the other goes through it. */
export interface CrashLane {
  /** Every invoice issued once, or failed as the service's books say; the report, the ledger's truth and the books agree. */
  surviveOne(crash: CrashCase): Promise<CrashEnd>;
  remove(): Promise<void>;
}

const INVOICES = 60;
/** Failed events are confirmed by GET: without them no status is ever recorded. */
const FAILING = [7, 31];
const SAID = { worker: 'Worker on task queue', receiver: 'Receiver http' } as const;

/** Null where the machine has no PostgreSQL. */
export async function crashLane(): Promise<CrashLane | null> {
  const cluster = await startPostgresCluster();
  if (cluster === null) return null;
  const place = await newPlace();
  await mkdir(place.dataDir, { recursive: true });
  const binary = await acquireTemporalBinary(() => undefined, process.env);
  const temporal = await startTemporalServer({
    ...{ binary, dataDir: place.dataDir, namespace: 'default', port: await ownPort(), uiPort: await ownPort() },
  });
  const all = processes();
  const sandbox = await independentSandbox({ latencyMs: 5, settleMs: 500 });
  const receiverPort = await ownPort();
  const client = {
    ...place.env,
    DATABASE_URL: cluster.url,
    TEMPORAL_ADDRESS: temporal.address,
    LOTE_TASK_QUEUE: `lote-${randomBytes(4).toString('hex')}`,
  };
  const env = {
    ...client,
    INVOICING_BASE_URL: sandbox.url,
    INVOICING_API_KEY: SANDBOX_KEY,
    WEBHOOK_URL: `http://127.0.0.1:${receiverPort}/webhooks`,
    RECEIVER_PORT: String(receiverPort),
    LOTE_PAGE_SIZE: '30',
    LOTE_SETTLE_TIMEOUT: '3m',
  };
  const running: Partial<Record<CrashCase['part'], RunningCommand>> = {};
  let files = 0;

  async function start(part: CrashCase['part'], crashAt?: string): Promise<RunningCommand> {
    const before = running[part];
    if (before !== undefined) {
      before.killGroup();
      await before.end;
    }
    const next = all.start([part], crashAt === undefined ? env : { ...env, LOTE_CRASH_AT: crashAt });
    running[part] = next;
    await next.said(SAID[part]);
    return next;
  }

  /** The kill, and what whoever looks after the servers would do after it. */
  async function strike({ part, victim }: CrashCase, at: RunningCommand): Promise<void> {
    if (victim === 'itself') {
      await start(part);
      return;
    }
    if (victim === 'database') await cluster?.kill();
    else temporal.kill();
    // Its next statement, or call, meets nobody: the server is up again only after that.
    at.signal('SIGCONT');
    if (victim === 'database') await cluster?.restart();
    else await temporal.restart();
  }

  return {
    async surviveOne(crash) {
      const began = Date.now();
      files += 1;
      const file = join(place.inputDir, `crash-${files}.csv`);
      const merchants = [1, 2, 3].map((nth) => String(500_000_000 + files * 10 + nth));
      await writeInvoiceFile(file, { invoices: INVOICES, failing: FAILING, series: `C${files}`, merchants });
      for (const part of ['worker', 'receiver'] as const) if (part !== crash.part) running[part] ??= await start(part);
      const crashAt = crash.victim === 'itself' ? crash.point : `stop@${crash.point}`;
      const at = await start(crash.part, crashAt);
      const run = all.start(['run', file, '--json'], client);
      await Promise.race([atPoint(crash, at), neverReached(run, crash)]);
      await strike(crash, at);
      const end = await run.end;
      return { posts: await expectTruth(end), seconds: Math.round((Date.now() - began) / 1000) };
    },
    async remove() {
      await all.killAll();
      await temporal.stop();
      await cluster.stop();
      await sandbox.close();
      await place.remove();
    },
  };

  async function expectTruth(end: CommandEnd): Promise<number> {
    expect(end.code, end.stderr).toBe(1);
    const issued = INVOICES - FAILING.length;
    const books = sandbox.books();
    expect(books.duplicates, 'invoices that the books show twice').toEqual([]);
    expect(books.totals, 'the books after all files so far').toMatchObject({
      invoices: files * INVOICES,
      issued: files * issued,
      failed: files * FAILING.length,
    });
    const { batches } = JSON.parse(end.stdout) as {
      batches: { counts: Record<string, number>; reports: { json: string } }[];
    };
    expect(batches[0]?.counts).toMatchObject({ invoices: INVOICES, issued, failed: FAILING.length });
    const report = JSON.parse(await readFile(batches[0]?.reports.json ?? '', 'utf8')) as {
      invoices: { serviceId: string; idempotencyKey: string; state: string; attempts: number }[];
    };
    const booked = new Map(books.invoices.map((one) => [one.idempotencyKey, `${one.id} ${one.status}`]));
    for (const { idempotencyKey, serviceId, state } of report.invoices)
      expect(booked.get(idempotencyKey), idempotencyKey).toBe(`${serviceId} ${state}`);
    return report.invoices.reduce((sum, { attempts }) => sum + attempts, 0);
  }
}

async function atPoint({ victim }: CrashCase, at: RunningCommand): Promise<void> {
  if (victim === 'itself') expect((await at.end).signal).toBe('SIGKILL');
  else {
    await at.said('LOTE_CRASH_AT: stopped at');
    // It says so just before it stands still: a SIGCONT in between would be lost, and it would stand there for ever.
    await until(async () => (await stateOf(at.pid)) === 'T');
  }
}

async function stateOf(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The name of the program stands in brackets and may hold anything.
  return stat.slice(stat.lastIndexOf(')') + 2)[0];
}

async function neverReached(run: RunningCommand, { point }: CrashCase): Promise<never> {
  const { code, stderr } = await run.end;
  throw new Error(`The run ended before ${point} was reached: exit ${code}, ${stderr}`);
}
