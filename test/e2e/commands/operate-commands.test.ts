import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Engine } from '../../../src/sandbox/engine.ts';
import type { Sandbox } from '../../../src/sandbox/sandbox.ts';
import { writeInvoiceFile } from '../../support/files/invoice-file.ts';
import { runLote, type CommandEnd } from '../../support/lote/lote-command.ts';
import { ownPort } from '../../support/servers/own-port.ts';
import { startLoteUp, type RunningLote } from '../../support/lote/running-lote.ts';
import { independentSandbox, SANDBOX_KEY } from '../../support/servers/sandbox-books.ts';
import { startServiceFront, type FrontRequest, type ServiceFront } from '../../support/servers/service-front.ts';
import { sharedTemporal } from '../../support/servers/shared-temporal.ts';
import { until } from '../../support/until.ts';

interface BatchDocument {
  readonly id: string;
  readonly counts: Readonly<Record<string, number>>;
  readonly reports: { readonly json: string };
}

interface ReportDocument {
  readonly batch: { readonly revision: number };
  readonly counts: Readonly<Record<string, number>>;
  readonly changes: { readonly sinceRevision: number; readonly byState: readonly unknown[] } | null;
  readonly audit: readonly { readonly at: string }[];
}

/** Short enough to wait for its end, long enough that a busy machine starts an accepted repeat inside the window that it opens. */
const RETENTION_MS = 12_000;

function batchOf({ code, stdout, stderr }: CommandEnd): BatchDocument {
  const [batch] = (JSON.parse(stdout) as { batches: BatchDocument[] }).batches;
  if (batch === undefined) throw new Error(`The command left with ${code} and no batch: ${stderr}`);
  return batch;
}

async function reportOf({ reports }: BatchDocument): Promise<ReportDocument> {
  return JSON.parse(await readFile(reports.json, 'utf8')) as ReportDocument;
}

/** The test's invoices carry series and ordinal in their line's description. */
function posts(front: ServiceFront, article: string): readonly FrontRequest[] {
  return front.requests.filter(({ path, body }) => path === '/v1/invoices' && body.includes(`"Artigo ${article}"`));
}

/** One owner that stays up, as in production, and the commands of operators beside it; the service's own books judge. */
describe('commands of operators', { timeout: 240_000 }, () => {
  let lote: RunningLote;
  let sandbox: Sandbox;
  let front: ServiceFront;
  let env: Record<string, string>;
  let directory: string;
  /** Customers that the engine fails at the moment, and those of whom it says nothing yet. */
  const failing = new Set<string>();
  const silent = new Set<string>();
  let speak = (): void => undefined;

  const engine: Engine = {
    async process({ body }) {
      const customer = body.customer.name;
      if (silent.has(customer)) await new Promise<void>((resolve) => (speak = resolve));
      if (!failing.has(customer)) return { delayMs: 5, outcome: { status: 'issued' } };
      return { delayMs: 5, outcome: { status: 'failed', code: 'engine_down', message: 'Not now' } };
    },
  };

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'lote-operate-'));
    sandbox = await independentSandbox({ engine });
    front = await startServiceFront(sandbox.url);
    const port = await ownPort();
    const profile = join(directory, 'profile.json');
    await writeFile(profile, JSON.stringify({ idempotency: { retentionHours: RETENTION_MS / 3_600_000 } }));
    env = {
      ...sharedTemporal(),
      INVOICING_BASE_URL: front.url,
      INVOICING_API_KEY: SANDBOX_KEY,
      SERVICE_PROFILE: profile,
      RECEIVER_PORT: String(port),
      WEBHOOK_URL: `http://127.0.0.1:${port}/webhooks`,
      LOTE_SETTLE_TIMEOUT: '10s',
      LOTE_SEND_TIMEOUT: '5s',
    };
    lote = await startLoteUp(env);
    // Who operates need not know the task queue: the owner says it.
    const { LOTE_TASK_QUEUE: _queue, ...known } = env;
    env = { ...known, ...lote.place.env };
  }, 120_000);

  afterAll(async () => {
    speak();
    await lote.stop();
    await front.close();
    await sandbox.close();
    await rm(directory, { recursive: true, force: true });
  });

  async function run(series: string, invoices: number): Promise<CommandEnd> {
    const file = join(lote.place.inputDir, `${series}.csv`);
    await writeInvoiceFile(file, { invoices, series });
    return runLote(['run', file, '--json'], env);
  }

  function customer(ordinal: number): string {
    return `Cliente Secreto ${ordinal}`;
  }

  function retry(batch: BatchDocument, ...parameters: readonly string[]): Promise<CommandEnd> {
    return runLote(['retry', batch.id, '--json', ...parameters], env);
  }

  it('retry sends failed and rejected invoices again once the cause is gone: by reference, then by state', async () => {
    for (const ordinal of [3, 7, 9]) failing.add(customer(ordinal));
    front.script = ({ body }) => (body.includes('"Artigo A/5"') ? { status: 422 } : 'pass');
    const first = await run('A', 12);
    const batch = batchOf(first);
    expect(first.code, first.stderr).toBe(1);
    expect(batch.counts).toMatchObject({ issued: 8, failed: 3, rejected: 1 });
    failing.clear();
    front.script = () => 'pass';

    const unknownRef = await retry(batch, '--ref', 'A/99');
    const byRef = await retry(batch, '--ref', 'A/3', '--reason', 'the engine is back', '--who', 'ana');
    const byState = await retry(batch, '--state', 'failed', '--reason', 'the engine is back', '--who', 'rui');
    const rest = await retry(batch, '--reason', 'the rule was wrong', '--who', 'rui');

    expect(unknownRef.code, unknownRef.stderr).toBe(64);
    expect([byRef.code, byState.code, rest.code], byRef.stderr + byState.stderr + rest.stderr).toEqual([1, 1, 0]);
    expect(batchOf(byRef).counts).toMatchObject({ issued: 9, failed: 2, rejected: 1 });
    expect(batchOf(byState).counts).toMatchObject({ issued: 11, failed: 0, rejected: 1 });
    expect(batchOf(rest).counts).toMatchObject({ issued: 12 });
    expectIssuedOnce(12);
    const report = await reportOf(batch);
    expect(report.batch.revision).toBe(4);
    expect(report.audit).toMatchObject([
      { who: 'ana', why: 'the engine is back', invoices: 1, acceptedDuplicateRisk: false },
      { who: 'rui', why: 'the engine is back', invoices: 2, acceptedDuplicateRisk: false },
      { who: 'rui', why: 'the rule was wrong', invoices: 1, acceptedDuplicateRisk: false },
    ]);
  });

  it('retry repeats an unknown one after the retention window only at an accepted risk, with who, when and why', async () => {
    front.script = ({ body }) => (body.includes('"Artigo B/2"') ? 'pass-and-cut' : 'pass');
    const first = await run('B', 4);
    const batch = batchOf(first);
    expect(batch.counts, first.stderr).toMatchObject({ issued: 3, unknown: 1 });
    front.script = () => 'pass';
    const before = posts(front, 'B/2').length;
    await sleep(RETENTION_MS);

    const refused = await retry(batch, '--ref', 'B/2', '--reason', 'the customer asks');
    const withoutReason = await retry(batch, '--ref', 'B/2', '--accept-duplicate-risk');
    const sentBefore = posts(front, 'B/2').length - before;
    const accepted = await retry(
      batch,
      ...['--ref', 'B/2', '--accept-duplicate-risk', '--reason', 'their support sees nothing', '--who', 'ana'],
    );

    expect([refused.code, withoutReason.code], refused.stderr + withoutReason.stderr).toEqual([1, 64]);
    expect(refused.stderr).toContain('--accept-duplicate-risk sends them all the same');
    expect(withoutReason.stderr).toContain('--reason');
    expect(sentBefore, 'POSTs without the word of an operator').toBe(0);
    expect(accepted.code, accepted.stderr).toBe(0);
    // The same key: a service that remembers longer than it promised answers with the first document.
    expect(new Set(posts(front, 'B/2').map(({ key, body }) => `${key} ${body}`)).size).toBe(1);
    expectIssuedOnce(16);
    const { audit } = await reportOf(batch);
    expect(audit).toMatchObject([
      { why: 'the customer asks', invoices: 0, acceptedDuplicateRisk: false },
      { who: 'ana', why: 'their support sees nothing', invoices: 1, acceptedDuplicateRisk: true },
    ]);
    expect(audit[0]?.at).toMatch(/^\d{4}-\d\d-\d\dT/);
  });

  it('reconcile rewrites the report that a webhook after the close has made wrong, and says what changed', async () => {
    for (const ordinal of [2]) silent.add(customer(ordinal));
    const batch = batchOf(await run('C', 3));
    expect(batch.counts).toMatchObject({ issued: 2, unsettled: 1 });
    expect(await reportOf(batch)).toMatchObject({ batch: { revision: 1 }, changes: null });
    silent.clear();
    speak();
    await until(() => sandbox.books().totals.issued === 19 && sandbox.books().totals.deliveriesPending === 0);
    const asked = front.requests.length;

    const reconciled = await runLote(['reconcile', '--json'], env);
    const again = await runLote(['reconcile'], env);

    expect(reconciled.code, reconciled.stderr).toBe(0);
    expect(JSON.parse(reconciled.stdout)).toMatchObject({ reconciliation: { reports: [batch.id] } });
    expect(front.requests.length - asked, 'the webhook had told it').toBe(0);
    expect(await reportOf(batch)).toMatchObject({
      batch: { revision: 2 },
      counts: { issued: 3, unsettled: 0 },
      changes: { sinceRevision: 1, byState: [{ from: 'unsettled', to: 'issued', invoices: 1, examples: ['C/2'] }] },
    });
    expect(again.stdout).toContain('Reports written again 0');
    expectIssuedOnce(19);
  });

  /** A failed document and its issued successor are no duplicate; two living documents of one content are. */
  function expectIssuedOnce(issued: number): void {
    const alive = sandbox.books().invoices.filter(({ status }) => status !== 'failed');
    expect(alive).toHaveLength(issued);
    expect(new Set(alive.map(({ bodySha256 }) => bodySha256)).size).toBe(issued);
  }
});
