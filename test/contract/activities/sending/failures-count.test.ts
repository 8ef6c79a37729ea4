import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, it } from 'vitest';
import { holdOverBudget, isBudgetSpent, readBudget, holdOverRetries } from '../../../../activities/sending/budgets.ts';
import {
  awaitFirstInvoices,
  type FirstInvoicesInput,
  judgeCanary,
} from '../../../../activities/sending/first-invoices.ts';
import { holdForbiddenMerchants } from '../../../../activities/sending/forbidden-invoices.ts';
import { runningBatch } from '../../../../activities/batch/running-batch.ts';
import { NIF, NOW, REASON, type TestBatch } from '../../ledger/scenario.ts';
import { activityPlaces, asActivity, outcomesOf, RETRY, sentBatch, type ActivityPlace } from '../activity-place.ts';
import { acceptedBatch, events, rejections, SAID_FAILED, SAID_PROCESSING, statusPlaces } from './accepted-batch.ts';

const placeOf = activityPlaces();
const saying = statusPlaces(placeOf);

describe('the failure budget and failures', () => {
  const spent = (place: ActivityPlace, batch: TestBatch) =>
    asActivity((deps, one: TestBatch) => isBudgetSpent(deps, one), place.deps, batch);

  it('is spent by reported failures that the service confirms', async () => {
    const place = saying(() => SAID_FAILED);
    const batch = await acceptedBatch(place, 60);
    await events(place, 'failed', 0, 50);

    expect((await readBudget(place.deps, batch)).spent, 'an event alone').toBe(false);
    expect(await spent(place, batch)).toBe(true);
    expect(place.asked).toHaveLength(50);
    expect(await holdOverBudget(place.deps, batch)).toBe(true);
    expect(await outcomesOf(place, batch.batchId)).toEqual({ failed: 50, accepted: 10, held: 3 });
    expect((await batch.line('R60')).reason).toEqual({
      code: 'failure-budget-spent',
      message:
        'The service failed 50 of the first 50 invoices that it called issued or failed, more than LOTE_FAILURE_BUDGET allows. The rest was not sent: look at the failures, then drop the file again.',
    });
  });

  it('is not spent by reported failures that the service does not confirm', async () => {
    const place = saying(() => SAID_PROCESSING);
    const batch = await acceptedBatch(place, 60);
    await events(place, 'failed', 0, 60);

    expect(await spent(place, batch)).toBe(false);
    expect(place.asked).toHaveLength(60);
    expect(await holdOverBudget(place.deps, batch)).toBe(false);
    // Out of turn: they do not use up the settled times to ask.
    const silent = await place.deps.ledger.pendingInvoices(batch.batchId, 1, NOW + 1, 100);
    expect(new Set(silent.map(({ asks }) => asks))).toEqual(new Set([0]));
  });

  it('does not read the batch while even the fewest answers could not spend it', async () => {
    const place = saying(() => SAID_FAILED);
    const batch = await acceptedBatch(place, 60);
    await events(place, 'failed', 0, 25);
    const ledger = { ...place.deps.ledger, countAnswers: () => Promise.reject(new Error('nobody should count')) };
    const look = (deps: ActivityPlace['deps']) =>
      asActivity((_, one: TestBatch) => isBudgetSpent(deps, one), deps, batch);

    expect(await look({ ...place.deps, ledger })).toBe(false);
    await events(place, 'failed', 25, 26);
    await expect(look({ ...place.deps, ledger })).rejects.toThrow('nobody should count');
  });

  it('counts reported failures of invoices that were accepted before the round', async () => {
    const place = saying(() => SAID_FAILED);
    const batch = await acceptedBatch(place, 60);
    const { before } = await runningBatch(place.deps, await batch.record());
    await events(place, 'failed', 0, 60);

    expect(before).toMatchObject({ pending: 60 });
    const look = { batchId: batch.batchId, before };
    expect(await asActivity((deps) => isBudgetSpent(deps, look), place.deps, undefined)).toBe(true);
  });

  it('leaves out what the retry policy sends again, and what was said before the round', async () => {
    const retry = { ...RETRY, failedReasonCodes: [REASON.code] };
    const mending = saying(() => SAID_FAILED, { retry });
    const mended = await acceptedBatch(mending, 60);
    await events(mending, 'failed', 0, 60);
    expect(await spent(mending, mended)).toBe(false);
    expect(await outcomesOf(mending, mended.batchId)).toMatchObject({ failed: 60 });

    const place = saying(() => SAID_FAILED);
    const batch = await acceptedBatch(place, 60);
    await events(place, 'failed', 0, 60);
    expect(await spent(place, batch)).toBe(true);
    const record = await batch.record();
    const { before } = await runningBatch(place.deps, record);
    expect(before).toMatchObject({ accepted: 60, failed: 60 });
    expect((await readBudget(place.deps, { batchId: batch.batchId, before })).spent).toBe(false);
  });
});

describe('what a slice of an earlier round holds', () => {
  it.each<readonly [string, (place: ActivityPlace, batch: TestBatch, fencingToken: number) => Promise<unknown>]>([
    [
      'over the failure budget',
      ({ deps }, { batchId }, fencingToken) => holdOverBudget(deps, { batchId, fencingToken }),
    ],
    [
      'over the retry budget',
      ({ deps }, { batchId }, fencingToken) => holdOverRetries(deps, { batchId, fencingToken }, 10_000),
    ],
    [
      'of a forbidden merchant',
      ({ deps }, { batchId }, fencingToken) => holdForbiddenMerchants(deps, { batchId, fencingToken }, [NIF]),
    ],
  ])('%s is refused', async (_, hold) => {
    const place = placeOf();
    const batch = await sentBatch(place, rejections(60), 2);
    const earlier = batch.fencingToken;
    await place.deps.ledger.beginRound({ batchId: batch.batchId, attempt: 1, fencingToken: earlier });

    await expect(hold(place, batch, earlier)).rejects.toMatchObject({ code: 'claim-lost' });

    expect(await outcomesOf(place, batch.batchId)).toEqual({ rejected: 60, staged: 2 });
    await hold(place, batch, earlier + 1);
    expect(await outcomesOf(place, batch.batchId)).toEqual({ rejected: 60, held: 2 });
  });
});

describe('the wait for the first invoices', () => {
  const FIRST = { page: 1, from: 1, to: 20, waitMs: 30_000 };

  function waiting(place: ActivityPlace, batch: TestBatch, spentMs = 0) {
    const input: FirstInvoicesInput = { ...FIRST, ledgerId: place.deps.ledger.id, batchId: batch.batchId };
    const env = new MockActivityEnvironment({
      scheduledTimestampMs: NOW,
      currentAttemptScheduledTimestampMs: NOW + spentMs,
    });
    return { env, ended: env.run(awaitFirstInvoices, place.deps, input) as Promise<void> };
  }

  it('ends when one is issued', async () => {
    const place = saying(() => SAID_PROCESSING);
    const batch = await acceptedBatch(place, 20);
    await events(place, 'issued', 3, 4);

    await waiting(place, batch).ended;

    expect(place.asked).toEqual([]);
  });

  it('ends when each failed, and the rest is then held', async () => {
    const place = saying(() => SAID_FAILED);
    const batch = await acceptedBatch(place, 20);
    await events(place, 'failed', 0, 20);

    await waiting(place, batch).ended;

    const input = { ledgerId: place.deps.ledger.id, batchId: batch.batchId, first: FIRST };
    expect(await asActivity(judgeCanary, place.deps, input)).toBe(true);
    expect(await outcomesOf(place, batch.batchId)).toEqual({ failed: 20, held: 3 });
  });
});
