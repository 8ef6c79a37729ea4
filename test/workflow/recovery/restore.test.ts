import { cp, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { confirmLedgerCommand, confirmServiceCommand } from '../../../src/cli/commands/confirm-ledger.ts';
import type { BatchProgress, BatchResult } from '../../../src/domain/messages/messages.ts';
import { readConfig } from '../../../src/app/config/config.ts';
import type { retryInvoices } from '../../../workflows/retry-invoices.ts';
import { testInvoices } from '../../support/files/batch-file.ts';
import type { BatchHandle } from '../../../src/app/temporal/batch-starter.ts';
import {
  NIGHT,
  reconcileAll,
  resultOf,
  scene,
  type RestorableLote,
  type Scene,
} from '../../support/lote/restore-scene.ts';
import { ageSendLog } from '../../support/lote/running-lote.ts';
import { isInvoice } from '../../support/servers/service-front.ts';
import { sql } from '../../support/servers/postgres-database.ts';
import { until } from '../../support/until.ts';
import { stop } from '../../support/lote/stack.ts';

const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;
const BEFORE = testInvoices(3);
const server = inject('postgresUrl');
const FORMS = [
  { form: 'a dump of PostgreSQL', postgresUrl: server },
  { form: 'a copied directory of PGlite', postgresUrl: null },
].filter(({ form, postgresUrl }) => postgresUrl !== null || form.includes('PGlite'));

const THROTTLED = { status: 429, headers: { 'Retry-After': '1' } };
const HELD = { counts: { held: NIGHT.length, issued: 0 } };
const ISSUED = { state: 'finished', counts: { issued: NIGHT.length } };
/** Shares no invoice with the night. */
const OTHER_NIGHT = testInvoices(4, {}, 20);

function corrected(invoices: typeof NIGHT): typeof NIGHT {
  return invoices.map((invoice) => ({ ...invoice, unitPrice: '99.00' }));
}

/** The service takes nothing, for now. */
function throttle({ front }: Scene): void {
  front.script = (request) => (isInvoice(request) ? THROTTLED : 'pass');
}

/** The service refuses the invoice that comes first, however often it comes with that key. */
function refuseFirstKey({ front }: Scene): void {
  let refused = '';
  front.script = (request) => {
    if (isInvoice(request) && refused === '') refused = request.key ?? '';
    return isInvoice(request) && request.key === refused ? { status: 422 } : 'pass';
  };
}

/** Nothing was issued twice: the service has so many documents. */
function expectDocuments({ sandbox }: Scene, invoices: number, when?: string): void {
  const { totals, duplicates } = sandbox.books();
  expect({ invoices: totals.invoices, duplicates }, when).toEqual({ invoices, duplicates: [] });
}

/** As if so much time went by since the last invoice was sent, for service and log. */
async function letPass({ reportsDir, pass }: Scene, ms: number): Promise<void> {
  await ageSendLog(reportsDir, ms);
  pass(ms);
}

/** The ledger is as it was at its copy, or a new one; without a person nothing is sent. */
async function restoreAndConfirm(set: Scene, form: string, how: 'copy' | 'lost' = 'copy'): Promise<void> {
  const { lote, front } = set;
  await lote.stop();
  if (how === 'copy') await lote.restoreLedger();
  else {
    await rm(lote.env['LOTE_DATA_DIR'] ?? '', { recursive: true });
    // The worker of the lost ledger polled the other queue within the last 90 s.
    lote.set({ LOTE_TASK_QUEUE: `${lote.env['LOTE_TASK_QUEUE']}-new` });
  }
  const posted = front.requests.filter(isInvoice).length;
  if (form.includes('PGlite')) await expect(lote.start()).rejects.toMatchObject({ code: 'interlock' });
  else await expectWaiting(lote);
  expect(front.requests.filter(isInvoice), 'nothing is sent before it is confirmed').toHaveLength(posted);
  expect(await confirmLedgerCommand(lote.env)).toBe(0);
  if (form.includes('PGlite')) await lote.start();
}

/** What its workers do waits, and says for what. */
async function expectWaiting(lote: RestorableLote): Promise<void> {
  await lote.start();
  const handle = await lote.drop('waits.csv', testInvoices(1, {}, 90));
  await until(async () =>
    ((await handle.query<BatchProgress>('progress')).waitingFor ?? '').includes('lote confirm-ledger'),
  );
  await handle.terminate('the operator looks at the reports first');
}

/** A night with a refused invoice that a corrected file issues, and another one whose refused invoice a retry issues. */
async function correctAndRetry(set: Scene): Promise<void> {
  const { lote } = set;
  refuseFirstKey(set);
  expect(await resultOf(lote, 'night.csv', NIGHT)).toMatchObject({ counts: { issued: 5, rejected: 1 } });
  expect(await resultOf(lote, 'corrected.csv', corrected(NIGHT))).toMatchObject({ counts: { issued: 1, conflict: 5 } });
  refuseFirstKey(set);
  const { batchId, counts } = await resultOf(lote, 'other.csv', OTHER_NIGHT);
  expect(counts).toMatchObject({ issued: 3, rejected: 1 });
  await lote.client().workflow.execute<typeof retryInvoices>('retryInvoices', {
    workflowId: `${batchId}-retry`,
    taskQueue: readConfig(lote.env).taskQueue,
    args: [{ batch: batchId, states: ['rejected'], reason: 'it is taken now', acceptDuplicateRisk: true }],
  });
  set.front.script = () => 'pass';
}

describe.each(FORMS)('a ledger restored from $form', ({ form, postgresUrl }) => {
  it('asks before it sends; within the window the files of the lost time bring the same documents, after it they are held', async () => {
    const set = await scene(postgresUrl);
    const { lote } = set;
    await lote.start();
    expect(await resultOf(lote, 'before.csv', BEFORE)).toMatchObject({ counts: { issued: 3 } });
    await lote.copyLedger();
    await correctAndRetry(set);
    const sent = BEFORE.length + NIGHT.length + OTHER_NIGHT.length;
    expectDocuments(set, sent, 'in the lost time');

    await letPass(set, HOUR_MS);
    await restoreAndConfirm(set, form);
    // In the wrong order: of the corrected file one invoice was issued then.
    expect(await resultOf(lote, 'corrected.csv', corrected(NIGHT))).toMatchObject({ counts: { issued: 1, held: 5 } });
    expect(await resultOf(lote, 'night.csv', NIGHT)).toMatchObject({ counts: { issued: 5, conflict: 1 } });
    expect(await resultOf(lote, 'other.csv', OTHER_NIGHT)).toMatchObject({ counts: { issued: 4 } });
    expectDocuments(set, sent, 'an hour later');

    await letPass(set, 2 * DAY_MS);
    await restoreAndConfirm(set, form);
    expect(await resultOf(lote, 'night.csv', NIGHT)).toMatchObject(HELD);
    expect(await resultOf(lote, 'night.csv', NIGHT), 'and dropped once more').toMatchObject(HELD);
    expect(await resultOf(lote, 'corrected.csv', corrected(NIGHT))).toMatchObject({ counts: { issued: 0 } });
    expect(await resultOf(lote, 'new.csv', testInvoices(2, {}, 30))).toMatchObject({ counts: { issued: 2 } });
    expectDocuments(set, sent + 2, 'two days later');
  });
});

describe('a lost ledger', () => {
  it('learns from the send log what a new one must know: retried and corrected invoices bring the same documents', async () => {
    const set = await scene(null);
    const { lote } = set;
    await lote.start();
    await correctAndRetry(set);

    await restoreAndConfirm(set, 'PGlite', 'lost');
    // A new ledger proves the service profile anew, which the tests of calibration show; the events of then do not come again.
    await lote.stop();
    await confirmServiceCommand(lote.env, { profile: true });
    await lote.start();
    expect(await resultOf(lote, 'night.csv', NIGHT)).toMatchObject({ counts: { issued: 5, held: 1 } });
    expect(await resultOf(lote, 'corrected.csv', corrected(NIGHT))).toMatchObject({
      counts: { issued: 1, conflict: 5 },
    });
    expect(await resultOf(lote, 'other.csv', OTHER_NIGHT)).toMatchObject({ counts: { issued: 4 } });
    expectDocuments(set, 10);
  });
});

describe.skipIf(server === null)('a restored ledger in which a batch runs', () => {
  it('holds what the batch had still to send; other content does not replace it, and its file brings the documents of the lost time', async () => {
    const set = await scene(server);
    const { lote, front } = set;
    throttle(set);
    await lote.start();
    const night = await lote.drop('night.csv', NIGHT);
    await until(() => Promise.resolve(front.requests.some(isInvoice)));
    await lote.stop();
    await lote.copyLedger();
    front.script = (request) => (isInvoice(request) ? 'pass-and-cut' : 'pass');
    await lote.start();
    await until(() => Promise.resolve(set.sandbox.books().totals.issued === NIGHT.length));
    await lote.stop();
    front.script = () => 'pass';
    await lote.restoreLedger();
    expect(await confirmLedgerCommand(lote.env)).toBe(0);
    await lote.start();

    expect(await lote.client().workflow.getHandle(night.workflowId).result()).toMatchObject(HELD);
    const conflicts = { counts: { conflict: NIGHT.length } };
    expect(await resultOf(lote, 'corrected.csv', corrected(NIGHT))).toMatchObject(conflicts);
    expect(await resultOf(lote, 'night.csv', NIGHT)).toMatchObject(ISSUED);
    expectDocuments(set, NIGHT.length);
  });

  it('repeats no key for longer than the service remembers it since its first POST, and calls none refused that may exist', async () => {
    const set = await scene(server);
    const { lote, front, reportsDir, pass } = set;
    await lote.start();
    await lote.copyLedger();
    expect(await resultOf(lote, 'night.csv', NIGHT)).toMatchObject(ISSUED);
    await lote.stop();
    await lote.restoreLedger();
    const [cut, refused] = front.requests.filter(isInvoice).map(({ key }) => key);
    await ageSendLog(reportsDir, DAY_MS - HOUR_MS);
    pass(DAY_MS - HOUR_MS);
    front.script = ({ key }) => (key === cut ? 'pass-and-cut' : key === refused ? { status: 422 } : 'pass');
    lote.set({ LOTE_SEND_TIMEOUT: '2s' });
    expect(await confirmLedgerCommand(lote.env)).toBe(0);
    await lote.start();
    expect(await resultOf(lote, 'night.csv', NIGHT)).toMatchObject({ counts: { issued: 4, unknown: 2, rejected: 0 } });

    front.script = () => 'pass';
    pass(2 * HOUR_MS);
    await sql(lote.env['DATABASE_URL'] ?? '', `UPDATE invoice_body SET frozen_at = frozen_at - ${2 * HOUR_MS}`);
    await reconcileAll(lote);
    expectDocuments(set, NIGHT.length);
  });
});

describe('a whole data directory from before a batch was cancelled and corrected', () => {
  it('sends nothing of that batch, whose run goes on from the copy, and the corrected file repeats its keys', async () => {
    const set = await scene(null, 20, 'own');
    const { lote, front } = set;
    throttle(set);
    await lote.start();
    const { workflowId } = await lote.drop('night.csv', NIGHT);
    await until(() => Promise.resolve(front.requests.some(isInvoice)));
    await lote.copyLedger();
    const night: BatchHandle = lote.client().workflow.getHandle(workflowId);
    await stop(night, 'cancelRemaining', { reason: 'its prices are wrong' });
    const { batchId } = await night.result();
    front.script = () => 'pass';
    expect(await resultOf(lote, 'corrected.csv', corrected(NIGHT))).toMatchObject(ISSUED);

    await restoreAndConfirm(set, 'PGlite');
    expect(await lote.client().workflow.getHandle(workflowId).result()).toMatchObject({ counts: { issued: 0 } });
    await reconcileAll(lote);
    await reconcileAll(lote);
    expect(await resultOf(lote, 'night.csv', NIGHT), 'and its file is run again').toMatchObject({
      counts: { issued: 0 },
    });
    expectDocuments(set, NIGHT.length);
    expect(await resultOf(lote, 'corrected.csv', corrected(NIGHT))).toMatchObject(ISSUED);
    expectDocuments(set, NIGHT.length, 'and its corrections');
    const kept = (await readdir(join(set.reportsDir, batchId))).filter((name) => name.startsWith('before-restore'));
    expect(kept, 'the report of the lost time').toHaveLength(1);
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

describe('a machine whose clock is behind when Lote starts', () => {
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

  it('repeats a key that the service remembers, also where that one names no time, once it has listed the merchants', async () => {
    const set = await scene(null);
    const { lote, sandbox, front } = set;
    expect(await lostAnswer(set)).toMatchObject({ counts: { issued: 5, unknown: 1 } });
    front.ahead = null;
    front.script = ({ method }) => (method === 'GET' ? { status: 403 } : 'pass');
    const before = front.requests.length;
    await lote.start();
    const again = await lote.drop('night.csv', NIGHT);
    await until(() => Promise.resolve(front.requests.length > before));
    expect(front.requests.slice(before).filter(isInvoice)).toEqual([]);
    front.script = () => 'pass';
    expect(await again.result()).toMatchObject({ counts: { issued: 6 } });
    expect(sandbox.books().totals).toMatchObject({ invoices: 6, issued: 6 });
  });

  it('leaves unknown what had no answer where the clock of the service is days ahead: it may have forgotten the key', async () => {
    const { lote, sandbox, front } = await scene(null);
    front.ahead = 3 * DAY_MS;
    let cut = '';
    front.script = (request) => {
      if (!isInvoice(request) || cut !== '') return 'pass';
      cut = request.key ?? '';
      return 'pass-and-cut';
    };
    await lote.start();
    expect(await resultOf(lote, 'night.csv', NIGHT)).toMatchObject({ counts: { issued: 5, unknown: 1 } });
    expect(front.requests.filter(({ key }) => key === cut)).toHaveLength(1);
    expect(sandbox.books().totals).toMatchObject({ invoices: 6, issued: 6 });
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

describe("a copy of Temporal's database that is older than the ledger", () => {
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
    await stop(first, 'cancelRemaining', { reason: 'the prices are to be looked at' });
    await first.result();
    front.script = () => 'pass';
    const later = await lote.drop('night.csv', NIGHT);
    expect(await later.result()).toMatchObject({ counts: { issued: 6 } });
    // Of the run that ended last: the first one may have gone on as another.
    const { runId } = await lote.client().workflow.getHandle(later.workflowId).describe();
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
