import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { shared } from '../../support/lifetime.ts';
import type { BatchHandle } from '../../../src/app/temporal/batch-starter.ts';
import type { BatchProgress } from '../../../src/domain/messages/messages.ts';
import { ownName } from '../../support/files/batch-file.ts';
import { until } from '../../support/until.ts';
import type { RunningCommand } from '../../support/lote/lote-command.ts';
import { startFleet, testFleet, type Fleet } from '../../support/lote/fleet.ts';
import { isInvoice } from '../../support/servers/service-front.ts';

/** The promise: from this long after the update's answer on, nothing new is POSTed. */
const STOPPED_AFTER_MS = 1_000;
/** Long enough to see what a slice that went on would send: some hundreds. */
const WATCHED_MS = 3_000;
/** Slices end and the ledger is looked at within a second; a busy machine takes longer. */
const COUNTED_WITHIN_MS = 20_000;
/** With what may be on the wire at a time, 1,000 invoices take 3.5 s. */
const SLOW_ANSWERS = { latencyMs: 225 };
const INVOICES = 1_000;
/** So many go before the stop is answered, and no more: a busy machine that comes late still has something to stop. */
const MOST_BEFORE = 700;
/** So that several pages are on their way at a time, on all workers. */
const SMALL_PAGES = { LOTE_PAGE_SIZE: '200' };
/** What the default profile lets all workers together have on the wire. */
const ON_THE_WIRE = 64;
const PARTS = { roles: ['receiver', 'worker'], isProved: true } as const;

/** As an operator does: told that the ledger could not be reached, ask again. */
async function operate(handle: BatchHandle, update: 'pause' | 'cancelRemaining'): Promise<number> {
  for (;;) {
    const answer = await handle.executeUpdate<string, [{ reason: string }]>(update, {
      args: [{ reason: 'the wrong file' }],
    });
    if (!answer.includes('ledger cannot be reached')) return Date.now();
  }
}

/** Answers none of the POSTs beyond so many, until it is told to go on. */
function holdBeyond(fleet: Fleet, most: number): () => void {
  let goOn = (): void => undefined;
  const released = new Promise<void>((resolve) => (goOn = resolve));
  fleet.front.script = async (request) => {
    if (isInvoice(request) && fleet.postTimes().length > most) await released;
    return 'pass' as const;
  };
  return goOn;
}

/** A POST that left in time is read here when this process has its turn: on a busy machine later, and never more of them than fit on the wire. */
async function expectStopped(fleet: Fleet, answeredAt: number): Promise<void> {
  await sleep(WATCHED_MS);
  const times = fleet.postTimes();
  const late = times.filter((at) => at > answeredAt + STOPPED_AFTER_MS);
  expect(late.length, `POSTs that came later, of ${times.length}`).toBeLessThanOrEqual(ON_THE_WIRE);
  await sleep(WATCHED_MS);
  expect(fleet.postTimes().length, 'nothing follows').toBe(times.length);
}

/** What the slices left is counted when they have ended, without anybody's help. */
async function expectTrueNumbers(handle: BatchHandle, staged: number): Promise<void> {
  const counts = async () => (await handle.query<BatchProgress>('progress')).counts;
  const patience = Date.now() + COUNTED_WITHIN_MS;
  await until(async () => (await counts()).sending === undefined || Date.now() > patience);
  expect(await counts(), 'nothing is on its way').not.toHaveProperty('sending');
  expect((await counts()).staged, 'what was not sent is staged').toBe(staged);
}

function issuedOf(fleet: Fleet): number {
  return fleet.sandbox.books().totals.invoices;
}

/** Each test sends a file of its own; what the books and the front show is counted over all. Workers join from test to test: a start takes a second. */
describe.skipIf(inject('postgresUrl') === null)('an operator stops a batch', () => {
  const fleet = shared(() => startFleet({ ...PARTS, sandbox: SLOW_ANSWERS, env: SMALL_PAGES }));
  const workers: RunningCommand[] = [];
  let release = (): void => undefined;

  beforeAll(() => void workers.push(...fleet.parts.slice(1)));

  it('at once with one worker; resumed, the rest goes exactly once', () => stopAndResume('A'));

  it('for good: what was not sent is held, and goes when the file is dropped again', async () => {
    await join();
    const [file, series] = [`${ownName('wrong')}.csv`, 'G'];
    const before = issuedOf(fleet);
    const handle = await startAndSee(file, series);

    await expectStopped(fleet, await stop(handle, 'cancelRemaining'));

    const { counts, state } = await handle.result();
    const issued = issuedOf(fleet) - before;
    expect(state).toBe('cancelled');
    expect(counts).toMatchObject({ issued, held: INVOICES - issued });
    await (await fleet.startFile(file, INVOICES, series)).result();
    fleet.expectIssued(before + INVOICES);
  });

  it('at once, also for a worker that stood still meanwhile and goes on', async () => {
    const [file, series] = [`${ownName('wrong')}.csv`, 'S'];
    const before = issuedOf(fleet);
    const handle = await startAndSee(file, series);
    const stopped = await workerBeside(handle);
    stopped.signal('SIGSTOP');
    const answeredAt = await stop(handle, 'pause');
    await sleep(STOPPED_AFTER_MS);

    stopped.signal('SIGCONT');

    await expectStopped(fleet, answeredAt);
    expect(issuedOf(fleet) - before, 'there was something to stop').toBeLessThan(INVOICES);
    await handle.executeUpdate<string, []>('resume');
    expect((await handle.result()).counts).toMatchObject({ issued: INVOICES });
    fleet.expectIssued(before + INVOICES);
  });

  it('at once with three workers; resumed, the rest goes exactly once', async () => {
    await join();
    await stopAndResume('B');
  });

  async function join(): Promise<void> {
    workers.push(await fleet.up('worker'));
  }

  async function stopAndResume(series: string): Promise<void> {
    const before = issuedOf(fleet);
    const handle = await startAndSee(`${ownName('wrong')}.csv`, series);

    await expectStopped(fleet, await stop(handle, 'pause'));
    const sent = issuedOf(fleet) - before;
    expect(sent).toBeLessThan(INVOICES);
    await expectTrueNumbers(handle, INVOICES - sent);
    await handle.executeUpdate<string, []>('resume');

    expect((await handle.result()).counts).toMatchObject({ issued: INVOICES });
    fleet.expectIssued(before + INVOICES);
  }

  /**
   * The worker that sends and does not run the batch's workflow. Temporal waits 10 to 30 s for one that runs it and stands still before another answers the
   * update: by then the living worker may have sent everything, and nothing would be left to stop.
   */
  async function workerBeside(handle: BatchHandle): Promise<RunningCommand> {
    const { events } = await handle.fetchHistory();
    const identity = events?.findLast((event) => event.workflowTaskStartedEventAttributes)
      ?.workflowTaskStartedEventAttributes?.identity;
    const beside = workers.find(({ pid }) => !identity?.includes(` pid=${pid} `));
    if (identity === undefined || beside === undefined) throw new Error(`no worker beside ${identity}`);
    return beside;
  }

  async function stop(handle: BatchHandle, update: 'pause' | 'cancelRemaining'): Promise<number> {
    const answeredAt = await operate(handle, update);
    release();
    return answeredAt;
  }

  /** Some are on their way or sent, and far more are not. */
  async function startAndSee(file: string, series: string): Promise<BatchHandle> {
    const before = fleet.postTimes().length;
    release = holdBeyond(fleet, before + MOST_BEFORE);
    const handle = await fleet.startFile(file, INVOICES, series);
    await until(() => fleet.postTimes().length > before + 130);
    return handle;
  }
});

describe.skipIf(inject('postgresUrl') === null)('an operator stops a batch at a service of twenty a second', () => {
  it('at once: what waits for its place in the rate stays here', async () => {
    const profile = { limits: { requestsPerSecond: 20 } };
    const fleet = await testFleet({ ...PARTS, sandbox: { latencyMs: 150 }, profile });
    const release = holdBeyond(fleet, 100);
    const handle = await fleet.startFile(`${ownName('wrong')}.csv`, 200);
    await until(() => fleet.postTimes().length > 40);

    const answeredAt = await operate(handle, 'pause');
    release();
    await expectStopped(fleet, answeredAt);
    const sent = issuedOf(fleet);
    expect(sent).toBeLessThan(150);
    await expectTrueNumbers(handle, 200 - sent);
    await handle.executeUpdate<string, []>('resume');

    expect((await handle.result()).counts).toMatchObject({ issued: 200 });
    fleet.expectIssued(200);
  });
});
