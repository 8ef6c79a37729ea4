import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { BatchHandle } from '../../../src/wiring/temporal/batch-starter.ts';
import type { BatchProgress } from '../../../src/contract/messages.ts';
import { ownName } from '../../support/files/batch-file.ts';
import { until } from '../../support/until.ts';
import type { RunningCommand } from '../../support/lote/lote-command.ts';
import { startFleet, withFleet, type WorkerFleet } from '../../support/lote/worker-fleet.ts';

/** The promise: from this long after the update's answer on, nothing new is POSTed. */
const STOPPED_AFTER_MS = 1_000;
/** Long enough to see what a slice that went on would send: some hundreds. */
const WATCHED_MS = 3_000;
/** Slices end and the ledger is looked at within a second; a busy machine takes longer. */
const COUNTED_WITHIN_MS = 20_000;
const SLOW_ANSWERS = { latencyMs: 45 };
/** 2,000 invoices take 4.7 s: a busy test process that comes late still has something to stop. */
const SLOWER_ANSWERS = { latencyMs: 150 };
/** So that several pages are on their way at a time, on all workers. */
const SMALL_PAGES = { LOTE_PAGE_SIZE: '1000' };
/** What the default profile lets all workers together have on the wire. */
const ON_THE_WIRE = 64;

/** As an operator does: told that the ledger could not be reached, ask again. */
async function operate(handle: BatchHandle, update: 'pause' | 'cancelRemaining'): Promise<number> {
  for (;;) {
    const answer = await handle.executeUpdate<string, [{ reason: string }]>(update, {
      args: [{ reason: 'the wrong file' }],
    });
    if (!answer.includes('ledger cannot be reached')) return Date.now();
  }
}

/** A POST that left in time is read here when this process has its turn: on a busy machine later, and never more of them than fit on the wire. */
async function expectStopped(fleet: WorkerFleet, answeredAt: number): Promise<number> {
  await sleep(WATCHED_MS);
  const times = fleet.postTimes();
  const late = times.filter((at) => at > answeredAt + STOPPED_AFTER_MS);
  expect(late.length, `POSTs that came later, of ${times.length}`).toBeLessThanOrEqual(ON_THE_WIRE);
  await sleep(WATCHED_MS);
  expect(fleet.postTimes().length, 'nothing follows').toBe(times.length);
  return times.length;
}

/** What the slices left is counted when they have ended, without anybody's help. */
async function expectTrueNumbers(fleet: WorkerFleet, handle: BatchHandle, invoices: number): Promise<void> {
  const counts = async () => (await handle.query<BatchProgress>('progress')).counts;
  const patience = Date.now() + COUNTED_WITHIN_MS;
  await until(async () => (await counts()).sending === undefined || Date.now() > patience);
  const { totals } = fleet.sandbox.books();
  expect(await counts(), 'nothing is on its way').not.toHaveProperty('sending');
  expect((await counts()).staged, 'what was not sent is staged').toBe(invoices - totals.invoices);
}

function expectEachOnce(fleet: WorkerFleet, invoices: number): void {
  const books = fleet.sandbox.books();
  expect(books.totals).toMatchObject({ invoices, issued: invoices });
  expect(books.duplicates).toEqual([]);
}

describe.skipIf(inject('postgresUrl') === null)('an operator stops a batch', { timeout: 300_000 }, () => {
  it.each([
    { workers: 1, invoices: 2_000 },
    { workers: 5, invoices: 4_000 },
  ])('at once with $workers workers; resumed, the rest goes exactly once', async ({ workers, invoices }) => {
    const file = `${ownName('wrong')}.csv`;
    await withFleet({ workers, sandbox: SLOW_ANSWERS, env: SMALL_PAGES }, async (fleet) => {
      const handle = await fleet.startFile(file, invoices);
      await until(() => fleet.postTimes().length > 200);

      const sent = await expectStopped(fleet, await operate(handle, 'pause'));
      expect(sent).toBeLessThan(invoices);
      await expectTrueNumbers(fleet, handle, invoices);
      await handle.executeUpdate<string, []>('resume');

      expect((await handle.result()).counts).toMatchObject({ issued: invoices });
      expectEachOnce(fleet, invoices);
    });
  });

  it('at a service of twenty a second: what waits for its place in the rate stays here', async () => {
    const profile = { limits: { requestsPerSecond: 20 } };
    const file = `${ownName('wrong')}.csv`;
    await withFleet({ workers: 2, sandbox: SLOW_ANSWERS, profile }, async (fleet) => {
      const handle = await fleet.startFile(file, 300);
      await until(() => fleet.postTimes().length > 40);

      const sent = await expectStopped(fleet, await operate(handle, 'pause'));
      expect(sent).toBeLessThan(150);
      await expectTrueNumbers(fleet, handle, 300);
      await handle.executeUpdate<string, []>('resume');

      expect((await handle.result()).counts).toMatchObject({ issued: 300 });
      expectEachOnce(fleet, 300);
    });
  });
});

/** Each sends a file of its own; what the books and the front show is counted over both. */
describe.skipIf(inject('postgresUrl') === null)(
  'an operator stops a batch of two workers',
  { timeout: 300_000 },
  () => {
    const INVOICES = 2_000;
    let fleet: Awaited<ReturnType<typeof startFleet>>;

    beforeAll(async () => {
      fleet = await startFleet({ workers: 2, sandbox: SLOWER_ANSWERS, env: SMALL_PAGES });
    });

    afterAll(() => fleet.remove());

    it('for good: what was not sent is held, and goes when the file is dropped again', async () => {
      const [file, series] = [`${ownName('wrong')}.csv`, 'G'];
      const before = issuedOf(fleet);
      const handle = await startAndSee(fleet, file, series);

      await expectStopped(fleet, await operate(handle, 'cancelRemaining'));

      const { counts, state } = await handle.result();
      const issued = issuedOf(fleet) - before;
      expect(state).toBe('cancelled');
      expect(counts).toMatchObject({ issued, held: INVOICES - issued });
      await (await fleet.startFile(file, INVOICES, series)).result();
      expectEachOnce(fleet, before + INVOICES);
    });

    it('at once, also for a worker that stood still meanwhile and goes on', async () => {
      const [file, series] = [`${ownName('wrong')}.csv`, 'S'];
      const before = issuedOf(fleet);
      const handle = await startAndSee(fleet, file, series);
      const stopped = await workerBeside(handle);
      stopped.signal('SIGSTOP');
      const answeredAt = await operate(handle, 'pause');
      await sleep(STOPPED_AFTER_MS);

      stopped.signal('SIGCONT');

      await expectStopped(fleet, answeredAt);
      expect(issuedOf(fleet) - before, 'there was something to stop').toBeLessThan(INVOICES);
      await handle.executeUpdate<string, []>('resume');
      expect((await handle.result()).counts).toMatchObject({ issued: INVOICES });
      expectEachOnce(fleet, before + INVOICES);
    });

    /**
     * The worker that sends and does not run the batch's workflow. Temporal waits 10 to 30 s for one that runs it and stands still before another answers the
     * update: by then the living worker may have sent everything, and nothing would be left to stop.
     */
    async function workerBeside(handle: BatchHandle): Promise<RunningCommand> {
      const { events } = await handle.fetchHistory();
      const identity = events?.findLast((event) => event.workflowTaskStartedEventAttributes)
        ?.workflowTaskStartedEventAttributes?.identity;
      const beside = fleet.workers.find(({ pid }) => !identity?.includes(` pid=${pid} `));
      if (identity === undefined || beside === undefined) throw new Error(`no worker beside ${identity}`);
      return beside;
    }

    /** Some hundreds are on their way or sent, and far more are not. */
    async function startAndSee(on: WorkerFleet, file: string, series: string): Promise<BatchHandle> {
      const before = on.postTimes().length;
      const handle = await on.startFile(file, INVOICES, series);
      await until(() => on.postTimes().length > before + 200);
      return handle;
    }
  },
);

function issuedOf(fleet: WorkerFleet): number {
  return fleet.sandbox.books().totals.invoices;
}
