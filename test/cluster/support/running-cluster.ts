import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Books } from '../../../src/sandbox/books.ts';
import { writeInvoiceFile } from '../../support/files/batch-file.ts';
import type { RunningCommand } from '../../support/lote/lote-command.ts';
import { until } from '../../support/until.ts';
import { listensOn, type Cluster } from './cluster.ts';

/** Docker starts a container again that has ended; this is about how long it takes. */
const RESTART_MS = 1_000;
const POLL_INTERVAL_MS = 50;

/** All processes of the distributed form, each of which a test may stop and start again. */
export type RunningCluster = Awaited<ReturnType<typeof startAll>>;

/** One batch, from its file to its report. */
export interface IssuedBatch {
  readonly counts: Readonly<Record<string, number>>;
  readonly state: string;
  readonly report: { readonly counts: Readonly<Record<string, number>> };
  /** From the start of the command to its end. */
  readonly seconds: number;
  /** What `lote run` ended with. */
  readonly exitCode: number | null;
  readonly stderr: string;
  /** Invoices that had been sent when the fault began; null: there was none. */
  readonly sentAtFault: number | null;
}

/** Starts everything that the jobs do not: what `docker compose --profile sandbox up` leaves running. */
export async function startAll(cluster: Cluster, workers: number) {
  const { ports } = cluster;
  const temporal = await startTemporal(cluster);
  await cluster.job('temporal-namespace');
  const startReceiver = (at: number): Promise<RunningCommand> =>
    cluster.start('receiver', { RECEIVER_PORT: ports.receivers[at] ?? '' });
  const receivers = await Promise.all([startReceiver(0), startReceiver(1)]);
  await cluster.start('receiver-tls', { RECEIVER_HTTP_PORT: ports.http, RECEIVER_HTTPS_PORT: ports.tls });
  const sandbox = await cluster.start('sandbox');
  const running = {
    ...{ receivers, temporal, sandbox, console: await cluster.start('console') },
    workers: [] as RunningCommand[],
    async addWorker() {
      running.workers.push(await cluster.start('worker'));
    },
    /** SIGKILL, and a new one after a moment, as `restart: unless-stopped` does it. */
    async killReceiver(at: number) {
      receivers[at]?.killGroup();
      await receivers[at]?.end;
      await sleep(RESTART_MS);
      receivers[at] = await startReceiver(at);
    },
    async killTemporal() {
      running.temporal.killGroup();
      await running.temporal.end;
    },
    async startTemporal() {
      running.temporal = await startTemporal(cluster);
    },
  };
  for (let count = 0; count < workers; count += 1) await running.addWorker();
  return running;
}

async function startTemporal(cluster: Cluster): Promise<RunningCommand> {
  const temporal = await cluster.start('temporal', cluster.ports.temporal);
  const ended = temporal.end.then(({ stderr, stdout }) => {
    throw new Error(`The Temporal server ended: ${stdout}${stderr}`);
  });
  ended.catch(() => undefined);
  await Promise.race([until(() => listensOn(cluster.ports.temporal['FRONTEND_GRPC_PORT'] ?? '')), ended]);
  return temporal;
}

/** Issues a file of so many invoices; when a quarter of them has been sent, the fault begins. */
export async function issueFile(
  cluster: Cluster,
  { name, invoices, fault = null }: { name: string; invoices: number; fault?: (() => Promise<void>) | null },
): Promise<IssuedBatch> {
  const file = join(cluster.directory, 'input', `${name}.csv`);
  await writeInvoiceFile(file, { invoices, series: name });
  const ledger = ledgerOf(cluster);
  const sentBefore = await ledger.sent();
  const began = performance.now();
  const run = cluster.lote('run', file, '--json');
  let sentAtFault: number | null = null;
  if (fault !== null) {
    const ended = run.end.then(() => true);
    do sentAtFault = (await ledger.sent()) - sentBefore;
    while (sentAtFault < invoices / 4 && !(await Promise.race([ended, sleep(POLL_INTERVAL_MS).then(() => false)])));
    await fault();
  }
  const { code, stdout, stderr } = await run.end;
  const seconds = (performance.now() - began) / 1_000;
  const [batch] = stdout === '' ? [] : (JSON.parse(stdout) as { batches: { id: string }[] }).batches;
  const id = batch?.id ?? (await ledger.batchOf(`${name}.csv`));
  // The command may have lost its servers; the batch goes on without it.
  const followed = await cluster.lote('report', id, '--follow', '--json').end;
  if (followed.code !== 0 && followed.stdout === '') throw new Error(`lote report: ${followed.stderr}`);
  const { batch: told } = JSON.parse(followed.stdout) as { batch: Pick<IssuedBatch, 'state' | 'counts'> };
  const report = JSON.parse(
    await readFile(join(cluster.directory, 'reports', id, 'report.json'), 'utf8'),
  ) as IssuedBatch['report'];
  return { ...told, report, seconds, exitCode: code, stderr, sentAtFault };
}

/** The simulated service's own books, of the key that Lote uses. */
export async function booksOf(cluster: Cluster): Promise<Books> {
  const answer = await fetch(`http://127.0.0.1:${cluster.ports.sandbox}/_sandbox/books`, {
    headers: { authorization: `Bearer ${cluster.apiKey}` },
  });
  return (await answer.json()) as Books;
}

/** Read on a connection for each look: the database may be restarted in between. */
export function ledgerOf(cluster: Cluster) {
  async function text(sql: string, values: readonly string[] = []): Promise<string> {
    for (;;) {
      const client = await cluster.connect('lote', 'lote').catch(() => null);
      try {
        const rows = await client?.query<{ found: string }>(sql, [...values]);
        if (rows !== undefined) return rows.rows[0]?.found ?? '';
      } catch {
        // It stops at this moment.
      } finally {
        await client?.end().catch(() => undefined);
      }
      await sleep(POLL_INTERVAL_MS);
    }
  }
  return {
    /** Invoices of all batches that the service has answered. */
    sent: async () =>
      Number(await text(`SELECT count(*) AS found FROM invoice WHERE state NOT IN ('staged', 'sending')`)),
    deliveries: async () => Number(await text('SELECT count(*) AS found FROM delivery')),
    batchOf: (file: string) => text('SELECT batch_id AS found FROM batch WHERE file LIKE $1', [`%${file}`]),
  };
}
