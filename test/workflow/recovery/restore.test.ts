import { randomBytes } from 'node:crypto';
import { cp, mkdir, readdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { confirmLedgerCommand } from '../../../src/cli/commands/installation/confirm-ledger.ts';
import type { BatchProgress, BatchResult } from '../../../src/contract/messages.ts';
import { readConfig } from '../../../src/runtime/config/config.ts';
import type { Sandbox } from '../../../src/sandbox/sandbox.ts';
import type { reconciliation } from '../../../workflows/reconciliation.ts';
import type { retryInvoices } from '../../../workflows/retry-invoices.ts';
import { ownName, testInvoices } from '../../support/files/batch-file.ts';
import type { BatchHandle } from '../../../src/wiring/temporal/batch-starter.ts';
import { newPlace } from '../../support/lote/lote-command.ts';
import { ageReports, ageWitnesses, restorableLote, type RestorableLote } from '../../support/lote/restorable-lote.ts';
import { shareCallContext } from '../../support/lote/shared-connection.ts';
import { shareWorkflowThread } from '../../support/lote/shared-workflow-thread.ts';
import { independentSandbox } from '../../support/servers/sandbox-books.ts';
import { sandboxEnv } from '../../support/servers/sandbox-env.ts';
import { sql } from '../../support/servers/postgres-schema.ts';
import { startServiceFront, type FrontRequest, type ServiceFront } from '../../support/servers/service-front.ts';
import { until } from '../../support/until.ts';

shareWorkflowThread(inject('workflowBundle'));
shareCallContext();

const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;
const BEFORE = testInvoices(3);
const NIGHT = testInvoices(6, {}, 10);
const server = inject('postgresUrl');
const FORMS = [
  { form: 'a dump of PostgreSQL', postgresUrl: server },
  { form: 'a copied directory of PGlite', postgresUrl: null },
].filter(({ form, postgresUrl }) => postgresUrl !== null || form.includes('PGlite'));

interface Scene {
  readonly lote: RestorableLote;
  readonly sandbox: Sandbox;
  /** Between Lote and the service. */
  readonly front: ServiceFront;
  readonly reportsDir: string;
  /** The service's clock goes on by so much: it forgets keys. */
  pass(ms: number): void;
}

/** Lote with a service that counts its documents, and with a Temporal server of its own or that of the test run. */
async function scene(postgresUrl: string | null, settleMs = 20, temporal: 'own' | 'shared' = 'shared'): Promise<Scene> {
  let ahead = 0;
  const place = await newPlace();
  const sandbox = await independentSandbox({ settleMs, clock: () => Date.now() + ahead });
  const front = await startServiceFront(sandbox.url);
  const name = ownName('restore');
  const lote = await restorableLote({
    ...{ directory: place.directory, dataDir: place.dataDir, postgresUrl },
    env: {
      ...(await sandboxEnv(place, front)),
      ...(temporal === 'shared' && { TEMPORAL_ADDRESS: inject('temporalAddress') }),
      LOTE_TASK_QUEUE: `lote-${name}-${randomBytes(3).toString('hex')}`,
      LOTE_APPLICATION: name,
      LOTE_LOG_LEVEL: 'warn',
      // The service tells the end of a document once, to the ledger that is gone; a poll, after a quarter of this, brings it again.
      LOTE_SETTLE_TIMEOUT: '20s',
    },
  });
  onTestFinished(async () => {
    await lote.remove();
    await front.close();
    await sandbox.close();
    await place.remove();
  });
  return { lote, sandbox, front, reportsDir: place.reportsDir, pass: (ms) => void (ahead += ms) };
}

/** Of a Lote that runs, and is stopped then. */
async function copyThenIssueNight(lote: RestorableLote): Promise<void> {
  await lote.copyLedger();
  expect(await resultOf(lote, 'night.csv', NIGHT)).toMatchObject({ counts: { issued: 6 } });
  await lote.stop();
}

/** The night was issued, and the ledger is as it was before it. Returns the key of one of its invoices. */
async function nightThatTheCopyLacks({ lote, sandbox, front }: Scene): Promise<string> {
  await lote.start();
  await copyThenIssueNight(lote);
  await lote.restoreLedger();
  expect(sandbox.books().totals).toMatchObject({ invoices: 6, issued: 6 });
  const last = front.requests.findLast(({ path }) => path === '/v1/invoices');
  return last?.key ?? '';
}

async function resultOf(lote: RestorableLote, name: string, invoices: typeof NIGHT): Promise<BatchResult> {
  return (await lote.drop(name, invoices)).result();
}

async function reconcileAll(lote: RestorableLote): Promise<void> {
  await lote.client().workflow.execute<typeof reconciliation>('reconciliation', {
    workflowId: ownName('reconciliation'),
    taskQueue: readConfig(lote.env).taskQueue,
    args: [{ all: true }],
  });
}

/** It refuses to start, or its batch waits and says for what. */
async function expectQuestion(lote: RestorableLote, form: string): Promise<void> {
  if (form.includes('PGlite')) {
    await expect(lote.start()).rejects.toMatchObject({ code: 'interlock' });
    return;
  }
  await lote.start();
  const handle = await lote.drop('night.csv', NIGHT);
  await until(async () =>
    ((await handle.query<BatchProgress>('progress')).waitingFor ?? '').includes('confirm-ledger'),
  );
  await sleep(500);
  await handle.terminate('the operator looked at the reports: it was sent');
  await lote.stop();
}

describe.each(FORMS)('a ledger restored from $form', { timeout: 400_000 }, ({ form, postgresUrl }) => {
  it('runs the night again without a second document, and asks before it sends once the service forgets keys', async () => {
    const { lote, sandbox, reportsDir, pass } = await scene(postgresUrl);
    await lote.start();
    expect(await resultOf(lote, 'before.csv', BEFORE)).toMatchObject({ counts: { issued: 3 } });
    await copyThenIssueNight(lote);

    await lote.restoreLedger();
    await lote.start();
    expect(await resultOf(lote, 'night.csv', NIGHT)).toMatchObject({ state: 'finished', counts: { issued: 6 } });
    await lote.stop();
    expect(sandbox.books().totals).toMatchObject({ invoices: 9, issued: 9 });
    expect(sandbox.books().duplicates).toEqual([]);
    expect(lote.log.join('')).toContain('the ledger is older than what was sent with it');

    await lote.restoreLedger();
    await ageWitnesses(reportsDir, DAY_MS);
    pass(DAY_MS + 60_000);
    await expectQuestion(lote, form);
    expect(sandbox.books().totals, 'nothing was sent while nobody had answered').toMatchObject({ invoices: 9 });

    expect(await confirmLedgerCommand(lote.env)).toBe(0);
    await lote.start();
    expect(await resultOf(lote, 'new.csv', testInvoices(2, {}, 30))).toMatchObject({ counts: { issued: 2 } });
    expect(sandbox.books().totals).toMatchObject({ invoices: 11, issued: 11 });
  });
});

describe('a restored ledger', { timeout: 400_000 }, () => {
  it('calls nothing rejected that it may have sent before: a refusal proves nothing, and a corrected file is not sent', async () => {
    const set = await scene(server);
    const { lote, sandbox, front } = set;
    const refused = await nightThatTheCopyLacks(set);
    front.script = ({ key }) => (key === refused ? { status: 422 } : 'pass');
    await lote.start();
    const night = await resultOf(lote, 'night.csv', NIGHT);
    const corrected = NIGHT.map((invoice) => ({ ...invoice, unitPrice: '99.00' }));
    await resultOf(lote, 'corrected.csv', corrected);

    expect(sandbox.books().totals).toMatchObject({ invoices: 6, issued: 6 });
    expect(night).toMatchObject({ counts: { issued: 5, unknown: 1, rejected: 0 } });
  });
});

const THROTTLED = { status: 429, headers: { 'Retry-After': '1' } };

/** The service refuses the invoice that comes first, however often it comes with that key. */
function refuseFirstKey(front: ServiceFront): void {
  let refused = '';
  front.script = (request) => {
    if (isInvoice(request) && refused === '') refused = request.key ?? '';
    return isInvoice(request) && request.key === refused ? { status: 422 } : 'pass';
  };
}

function isInvoice({ method, path }: FrontRequest): boolean {
  return method === 'POST' && path === '/v1/invoices';
}

/** The copy was made while a batch waited to send; then all of it left, and its run was not over when Lote stopped. Returns its workflow. */
async function nightThatTheCopyHasUnsent({ lote, sandbox, front }: Scene): Promise<string> {
  front.script = (request) => (isInvoice(request) ? THROTTLED : 'pass');
  await lote.start();
  const { workflowId } = await lote.drop('night.csv', NIGHT);
  await until(() => Promise.resolve(front.requests.filter(isInvoice).length >= NIGHT.length));
  await lote.stop();
  await lote.copyLedger();
  front.script = (request) => (isInvoice(request) ? 'pass-and-cut' : 'pass');
  await lote.start();
  await until(() => Promise.resolve(sandbox.books().totals.issued === NIGHT.length));
  await lote.stop();
  front.script = () => 'pass';
  await lote.restoreLedger();
  return workflowId;
}

describe.skipIf(server === null)('a restored ledger that was confirmed', { timeout: 400_000 }, () => {
  it('holds what it has as unsent in a running batch, for it may have been sent before the copy was restored', async () => {
    const set = await scene(server);
    const { lote, sandbox, reportsDir, pass } = set;
    const workflowId = await nightThatTheCopyHasUnsent(set);
    await ageWitnesses(reportsDir, DAY_MS);
    pass(DAY_MS + 60_000);
    expect(await confirmLedgerCommand(lote.env)).toBe(0);
    await lote.start();
    const night = (await lote.client().workflow.getHandle(workflowId).result()) as BatchResult;

    expect(sandbox.books().totals).toMatchObject({ invoices: 6, issued: 6 });
    expect(night).toMatchObject({ state: 'finished', counts: { held: 6 } });
  });

  it('repeats no key after the time for which the service remembers it since its first POST, before the copy was restored', async () => {
    const set = await scene(server);
    const { lote, sandbox, front, reportsDir, pass } = set;
    const lost = await nightThatTheCopyLacks(set);
    await ageWitnesses(reportsDir, DAY_MS - HOUR_MS);
    pass(DAY_MS - HOUR_MS);
    front.script = ({ key }) => (key === lost ? 'pass-and-cut' : 'pass');
    lote.set({ LOTE_SEND_TIMEOUT: '2s' });
    await lote.start();
    expect(await resultOf(lote, 'night.csv', NIGHT)).toMatchObject({ counts: { issued: 5, unknown: 1 } });
    await lote.stop();
    expect(await confirmLedgerCommand(lote.env)).toBe(0);

    front.script = () => 'pass';
    pass(2 * HOUR_MS);
    await sql(lote.env['DATABASE_URL'] ?? '', `UPDATE invoice_body SET frozen_at = frozen_at - ${2 * HOUR_MS}`);
    await lote.start();
    await reconcileAll(lote);

    expect(sandbox.books().totals).toMatchObject({ invoices: 6, issued: 6 });
  });
});

/** As if so much time went by since the last invoice was sent, for all that tells the time: service, marks and reports. */
async function letPass({ reportsDir, pass }: Scene, ms: number): Promise<void> {
  await ageWitnesses(reportsDir, ms);
  await ageReports(reportsDir, ms);
  pass(ms);
}

describe.each(FORMS)('a file that is run again after $form was confirmed', { timeout: 400_000 }, ({ postgresUrl }) => {
  it('sends nothing that its report of the lost time calls issued, once the service forgets keys', async () => {
    const set = await scene(postgresUrl);
    const { lote, sandbox } = set;
    await nightThatTheCopyLacks(set);
    await letPass(set, DAY_MS + 60_000);
    expect(await confirmLedgerCommand(lote.env)).toBe(0);

    await lote.start();
    expect(await resultOf(lote, 'night.csv', NIGHT)).toMatchObject({ counts: { held: 6 } });
    expect(await resultOf(lote, 'night.csv', NIGHT), 'and dropped once more').toMatchObject({ counts: { held: 6 } });

    expect(sandbox.books().totals).toMatchObject({ invoices: 6, issued: 6 });
  });
});

describe.skipIf(server === null)('a restored ledger in which a batch ended unsent', { timeout: 400_000 }, () => {
  it('sends no other content of an invoice that may have been issued since', async () => {
    const { lote, sandbox, front } = await scene(server);
    front.script = (request) => (isInvoice(request) ? THROTTLED : 'pass');
    await lote.start();
    const first = await lote.drop('night.csv', NIGHT);
    await until(() => Promise.resolve(front.requests.some(isInvoice)));
    await first.executeUpdate('cancelRemaining', { args: [{ reason: 'the service takes nothing' }] });
    expect(await first.result()).toMatchObject({ counts: { held: 6 } });
    await lote.copyLedger();
    front.script = () => 'pass';
    expect(await resultOf(lote, 'night.csv', NIGHT)).toMatchObject({ counts: { issued: 6 } });
    await lote.stop();
    await lote.restoreLedger();
    await lote.start();
    const changed = NIGHT.map((invoice) => ({ ...invoice, unitPrice: '99.00' }));
    const other = await resultOf(lote, 'changed.csv', changed);
    const again = await resultOf(lote, 'night.csv', NIGHT);

    expect(sandbox.books().totals).toMatchObject({ invoices: 6, issued: 6 });
    expect(other).toMatchObject({ counts: { conflict: 6 } });
    expect(again).toMatchObject({ counts: { issued: 6 } });
  });
});

const CORRECTED = NIGHT.map((invoice) => ({ ...invoice, unitPrice: '99.00' }));

/** What the copy does not know: its batch is cancelled, and the corrected file issued. Returns the batch. */
async function cancelCorrectAndRestore({ lote, front }: Scene, night: BatchHandle): Promise<string> {
  await night.executeUpdate('cancelRemaining', { args: [{ reason: 'its prices are wrong' }] });
  const { batchId } = await night.result();
  front.script = () => 'pass';
  expect(await resultOf(lote, 'corrected.csv', CORRECTED)).toMatchObject({ counts: { issued: 6 } });
  await lote.stop();
  await lote.restoreLedger();
  return batchId;
}

describe.skipIf(server === null)('a file that was cancelled and corrected after the copy', { timeout: 400_000 }, () => {
  it('is not sent when it is run again, and the corrected one repeats its key once an operator accepts the risk', async () => {
    const set = await scene(server);
    const { lote, sandbox, front, reportsDir } = set;
    await lote.start();
    await lote.copyLedger();
    front.script = (request) => (isInvoice(request) ? THROTTLED : 'pass');
    const first = await lote.drop('night.csv', NIGHT);
    await until(() => Promise.resolve(front.requests.some(isInvoice)));
    const batchId = await cancelCorrectAndRestore(set, first);

    await lote.start();
    expect(await resultOf(lote, 'night.csv', NIGHT)).toMatchObject({ counts: { held: 6 } });
    expect(await resultOf(lote, 'night.csv', NIGHT), 'and dropped once more').toMatchObject({ counts: { held: 6 } });
    expect(await resultOf(lote, 'corrected.csv', CORRECTED)).toMatchObject({ counts: { conflict: 6 } });
    const again = await lote.drop('again.csv', [...CORRECTED.slice(1), ...CORRECTED.slice(0, 1)], {
      acceptDuplicateRisk: true,
    });
    expect(await again.result()).toMatchObject({ counts: { issued: 6 } });

    expect(sandbox.books().totals).toMatchObject({ invoices: 6, issued: 6 });
    const kept = (await readdir(join(reportsDir, batchId))).filter((name) => name.startsWith('before-restore'));
    expect(kept, 'the report of the lost time').toHaveLength(1);
  });

  it('is not sent when it is run again where the service had refused it, and would take it now', async () => {
    const { lote, sandbox, front } = await scene(server);
    await lote.start();
    await lote.copyLedger();
    refuseFirstKey(front);
    expect(await resultOf(lote, 'night.csv', NIGHT)).toMatchObject({ counts: { issued: 5, rejected: 1 } });
    expect(await resultOf(lote, 'corrected.csv', CORRECTED)).toMatchObject({ counts: { issued: 1, conflict: 5 } });
    await lote.stop();
    await lote.restoreLedger();
    front.script = () => 'pass';
    await lote.start();
    const again = await resultOf(lote, 'night.csv', NIGHT);

    expect(sandbox.books().totals).toMatchObject({ invoices: 6, issued: 6 });
    expect(again).toMatchObject({ counts: { issued: 5, held: 1 } });
    const corrected = await lote.drop('corrected.csv', CORRECTED, { acceptDuplicateRisk: true });
    expect(await corrected.result()).toMatchObject({ counts: { conflict: 5 } });
    expect(sandbox.books().totals, 'and the corrected file repeats its key').toMatchObject({ invoices: 6, issued: 6 });
  });

  it('is not sent with a key of before where a retry had issued it with a new one', async () => {
    const { lote, sandbox, front } = await scene(server);
    await lote.start();
    await lote.copyLedger();
    refuseFirstKey(front);
    const { batchId } = await resultOf(lote, 'night.csv', NIGHT);
    await lote.client().workflow.execute<typeof retryInvoices>('retryInvoices', {
      workflowId: `${batchId}-retry`,
      taskQueue: readConfig(lote.env).taskQueue,
      args: [{ batch: batchId, states: ['rejected'], reason: 'it is taken now', acceptDuplicateRisk: true }],
    });
    expect(sandbox.books().totals).toMatchObject({ invoices: 6, issued: 6 });
    await lote.stop();
    await lote.restoreLedger();
    front.script = () => 'pass';
    await lote.start();

    expect(await resultOf(lote, 'night.csv', NIGHT)).toMatchObject({ counts: { issued: 5, held: 1 } });
    expect(sandbox.books().totals).toMatchObject({ invoices: 6, issued: 6 });
  });

  it('is not repeated by reconciliation, which closes its batch, where the copy was made while it was sent', async () => {
    const set = await scene(server);
    const { lote, sandbox, front } = set;
    await lote.start();
    front.script = (request) => (isInvoice(request) ? THROTTLED : 'pass');
    const first = await lote.drop('night.csv', NIGHT);
    await until(() => Promise.resolve(front.requests.some(isInvoice)));
    await lote.copyLedger();
    await cancelCorrectAndRestore(set, first);

    await lote.start();
    await reconcileAll(lote);
    await reconcileAll(lote);

    expect(sandbox.books().totals).toMatchObject({ invoices: 6, issued: 6 });
    expect(await resultOf(lote, 'night.csv', NIGHT)).toMatchObject({ state: 'finished', counts: { issued: 0 } });
    expect(sandbox.books().totals, 'and its file is run again').toMatchObject({ invoices: 6, issued: 6 });
  });
});

describe('the confirmation while the service remembers the keys', { timeout: 400_000 }, () => {
  it('waits for each file that ran since the copy, also one that no night has archived, and names it', async () => {
    const set = await scene(null);
    const { lote, sandbox } = set;
    await nightThatTheCopyLacks(set);

    const error = await confirmLedgerCommand(lote.env).catch((thrown: unknown) => thrown as Error);
    expect(error).toMatchObject({ code: 'interlock' });
    expect(String(error)).toContain('(night.csv)');

    await lote.start();
    expect(await resultOf(lote, 'night.csv', NIGHT)).toMatchObject({ counts: { issued: 6 } });
    await lote.stop();
    expect(await confirmLedgerCommand(lote.env)).toBe(0);
    expect(sandbox.books().totals).toMatchObject({ invoices: 6, issued: 6 });
  });

  it('goes on without such a file where the operator says so', async () => {
    const set = await scene(null);
    await nightThatTheCopyLacks(set);
    expect(await confirmLedgerCommand(set.lote.env, { leaveLostBatches: true })).toBe(0);
  });

  it('waits for the folder of a batch that cannot be read, and names it; no other folder stands in its way', async () => {
    const set = await scene(null);
    const { lote, reportsDir } = set;
    await nightThatTheCopyLacks(set);
    await lote.start();
    await resultOf(lote, 'night.csv', NIGHT);
    await lote.stop();
    for (const name of ['lost+found', 'batch-march-0a1b2c3d']) {
      await mkdir(join(reportsDir, name));
      await symlink('report.json', join(reportsDir, name, 'report.json'));
    }

    const error = await confirmLedgerCommand(lote.env).catch((thrown: unknown) => thrown as Error);
    expect(error).toMatchObject({ code: 'folder-unusable' });
    expect(String(error)).toContain('not: batch-march-0a1b2c3d (ELOOP). Nothing was confirmed.');
    expect(await confirmLedgerCommand(lote.env, { leaveLostBatches: true })).toBe(0);
  });
});

/** Invoices may be lost on the way: the first one has arrived, and its answer has not. Returns what it says of them then. */
async function lostAnswer({ lote, front }: Scene): Promise<BatchResult> {
  lote.set({ LOTE_SEND_TIMEOUT: '2s' });
  const { script } = front;
  let lost = '';
  front.script = (request) => {
    if (isInvoice(request) && lost === '') lost = request.key ?? '';
    return isInvoice(request) && request.key === lost ? 'pass-and-cut' : 'pass';
  };
  await lote.start();
  const night = await resultOf(lote, 'night.csv', NIGHT);
  await lote.stop();
  front.script = script;
  return night;
}

describe('a machine whose clock is behind when Lote starts', { timeout: 400_000 }, () => {
  it('repeats no key that the service has forgotten by its own time, when the file is run again', async () => {
    const set = await scene(null);
    const { lote, sandbox, front, pass } = set;
    expect(await lostAnswer(set)).toMatchObject({ counts: { issued: 5, unknown: 1 } });

    // A day has gone by, and the machine has not noticed.
    pass(DAY_MS + 60_000);
    front.ahead = DAY_MS + 60_000;
    await lote.start();
    expect(await resultOf(lote, 'night.csv', NIGHT)).toMatchObject({ counts: { issued: 5, unknown: 1 } });

    expect(sandbox.books().totals).toMatchObject({ invoices: 6, issued: 6 });
    expect(lote.log.join('')).toContain("the service's clock is ahead of this machine's");
  });

  it('repeats a key that the service remembers, also where that one names no time and refuses the list of merchants', async () => {
    const set = await scene(null);
    const { lote, sandbox, front } = set;
    expect(await lostAnswer(set)).toMatchObject({ counts: { issued: 5, unknown: 1 } });
    front.ahead = null;
    front.script = ({ method }) => (method === 'GET' ? { status: 403 } : 'pass');
    const before = front.requests.length;
    await lote.start();
    const again = await lote.drop('night.csv', NIGHT);
    await until(() => Promise.resolve(front.requests.slice(before).some(isInvoice)));
    front.script = () => 'pass';
    expect(await again.result()).toMatchObject({ counts: { issued: 6 } });
    expect(sandbox.books().totals).toMatchObject({ invoices: 6, issued: 6 });
  });

  it('repeats what it has sent since, also where the clock of the service is days ahead', async () => {
    const { lote, sandbox, front } = await scene(null);
    front.ahead = 3 * DAY_MS;
    let cut = '';
    front.script = (request) => {
      if (!isInvoice(request) || cut !== '') return 'pass';
      cut = request.key ?? '';
      return 'pass-and-cut';
    };
    await lote.start();
    expect(await resultOf(lote, 'night.csv', NIGHT)).toMatchObject({ counts: { issued: 6 } });
    expect(front.requests.filter(({ key }) => key === cut)).toHaveLength(2);
    expect(sandbox.books().totals).toMatchObject({ invoices: 6, issued: 6 });
  });
});

describe('a whole data directory from before a batch was cancelled and corrected', { timeout: 400_000 }, () => {
  it('sends nothing of that batch, whose run goes on from the copy', async () => {
    const set = await scene(null, 20, 'own');
    const { lote, sandbox, front } = set;
    front.script = (request) => (isInvoice(request) ? THROTTLED : 'pass');
    await lote.start();
    const { workflowId } = await lote.drop('night.csv', NIGHT);
    await until(() => Promise.resolve(front.requests.some(isInvoice)));
    await lote.stop();
    await lote.copyLedger();
    await lote.start();
    await cancelCorrectAndRestore(set, lote.client().workflow.getHandle(workflowId));

    await lote.start();
    const night = (await lote.client().workflow.getHandle(workflowId).result()) as BatchResult;

    expect(sandbox.books().totals).toMatchObject({ invoices: 6, issued: 6 });
    expect(night).toMatchObject({ state: 'finished', counts: { issued: 0 } });
    const corrected = await lote.drop('corrected.csv', CORRECTED, { acceptDuplicateRisk: true });
    expect(await corrected.result()).toMatchObject({ counts: { issued: 6 } });
    expect(sandbox.books().totals, 'and the corrected file repeats its keys').toMatchObject({ invoices: 6, issued: 6 });
  });
});

/** Of the embedded form: Temporal's database as it was when this was called, once Lote has stopped again. */
async function copyOfTemporal({ lote }: Scene): Promise<() => Promise<void>> {
  const dataDir = lote.env['LOTE_DATA_DIR'] ?? '';
  const copy = join(dataDir, '..', 'temporal-copy');
  const names = (await readdir(dataDir)).filter((name) => name.startsWith('temporal.db'));
  await mkdir(copy);
  for (const name of names) await cp(join(dataDir, name), join(copy, name));
  return async () => {
    for (const name of names) await cp(join(copy, name), join(dataDir, name), { force: true });
  };
}

describe("a copy of Temporal's database that is older than the ledger", { timeout: 400_000 }, () => {
  it('sends nothing again: a run that another one has replaced ends and names that one, and the file can be run again', async () => {
    const set = await scene(null, 20, 'own');
    const { lote, sandbox, front } = set;
    front.script = (request) => (isInvoice(request) ? THROTTLED : 'pass');
    await lote.start();
    const { workflowId } = await lote.drop('night.csv', NIGHT);
    await until(() => Promise.resolve(front.requests.some(isInvoice)));
    await lote.stop();
    const restoreTemporal = await copyOfTemporal(set);
    await lote.start();
    const first: BatchHandle = lote.client().workflow.getHandle(workflowId);
    await first.executeUpdate('cancelRemaining', { args: [{ reason: 'the prices are to be looked at' }] });
    await first.result();
    front.script = () => 'pass';
    const later = await lote.drop('night.csv', NIGHT);
    const { runId } = await lote.client().workflow.getHandle(later.workflowId).describe();
    expect(await later.result()).toMatchObject({ counts: { issued: 6 } });
    await lote.stop();
    await restoreTemporal();

    await lote.start();
    const old: Promise<unknown> = lote.client().workflow.getHandle(workflowId).result();
    const failure = await old.catch((error: unknown) => error);
    expect(failure).toMatchObject({ cause: { cause: { type: 'claim-lost' } } });
    expect((failure as { cause: { cause: Error } }).cause.cause.message).toContain(
      `run ${runId} of workflow ${workflowId}`,
    );

    expect(await resultOf(lote, 'night.csv', NIGHT)).toMatchObject({ counts: { issued: 6 } });
    expect(sandbox.books().totals).toMatchObject({ invoices: 6, issued: 6 });
  });
});

describe.skipIf(server === null)('one of the two databases lost while a batch runs', { timeout: 400_000 }, () => {
  /** A batch whose invoices are sent, and not settled, when Lote stops, which runs before. */
  async function stoppedBatch({ lote, sandbox }: Scene): Promise<string> {
    const { workflowId } = await lote.drop('night.csv', NIGHT);
    await until(() => Promise.resolve(sandbox.books().totals.invoices === NIGHT.length));
    await lote.stop();
    return workflowId;
  }

  it('Temporal kept, ledger restored: the run ends and says why, and the file dropped again issues once', async () => {
    const set = await scene(server, 3_000);
    const { lote, sandbox } = set;
    await lote.start();
    await lote.copyLedger();
    const workflowId = await stoppedBatch(set);

    await lote.restoreLedger();
    await lote.start();
    const lost = lote.client().workflow.getHandle(workflowId);
    await expect(lost.result()).rejects.toMatchObject({ cause: { cause: { type: 'batch-not-found' } } });
    const again = await resultOf(lote, 'night.csv', NIGHT);

    expect(again).toMatchObject({ state: 'finished', counts: { issued: 6 } });
    expect(sandbox.books().totals).toMatchObject({ invoices: 6, issued: 6 });
  });

  it('ledger kept, Temporal lost: reconciliation closes the batch, and the file dropped again goes on', async () => {
    const set = await scene(server, 3_000);
    const { lote, sandbox } = set;
    await lote.start();
    await stoppedBatch(set);

    const TEMPORAL_NAMESPACE = ownName('restored');
    lote.set({ TEMPORAL_NAMESPACE });
    const connection = await Connection.connect({ address: inject('temporalAddress') });
    const workflowExecutionRetentionPeriod = { seconds: 86_400 } as never;
    await connection.workflowService.registerNamespace({
      namespace: TEMPORAL_NAMESPACE,
      workflowExecutionRetentionPeriod,
    });
    await connection.close();
    // Before, a GET would say that it is being processed, and the next reconciliation would settle it.
    await until(() => Promise.resolve(sandbox.books().totals.issued === NIGHT.length));
    await lote.start();
    const { orphans } = await lote.client().workflow.execute<typeof reconciliation>('reconciliation', {
      workflowId: ownName('reconciliation'),
      taskQueue: readConfig(lote.env).taskQueue,
      args: [{ all: true }],
    });
    const again = await resultOf(lote, 'night.csv', NIGHT);

    expect(orphans).toHaveLength(1);
    expect(again).toMatchObject({ state: 'finished', counts: { issued: 6 } });
    expect(sandbox.books().totals).toMatchObject({ invoices: 6, issued: 6 });
    expect(sandbox.books().duplicates).toEqual([]);
  });
});
