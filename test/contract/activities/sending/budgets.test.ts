import { describe, expect, it } from 'vitest';
import {
  createFailureWatches,
  holdOverBudget,
  isBudgetSpent,
  readBudget,
  type BudgetedBatch,
} from '../../../../activities/sending/budgets.ts';
import { holdForbiddenMerchants } from '../../../../activities/sending/forbidden-invoices.ts';
import { runningBatch } from '../../../../activities/batch/running-batch.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';
import { NIF, NOW, REASON, type TestBatch } from '../../ledger/scenario.ts';
import { activityPlaces, asActivity, outcomesOf, RETRY, sentBatch, type ActivityPlace } from '../activity-place.ts';
import {
  acceptances,
  acceptedBatch,
  events,
  rejections,
  SAID_FAILED,
  SAID_PROCESSING,
  statusPlaces,
} from './accepted-batch.ts';

const placeOf = activityPlaces();
const saying = statusPlaces(placeOf);

/** A batch whose first invoices were refused, then those that are accepted; the last three are not sent. */
function answered(place: ActivityPlace, refused: number, accepted: number): Promise<TestBatch> {
  return sentBatch(place, [...rejections(refused), ...acceptances(place, accepted)], 3);
}

function look(place: ActivityPlace, batch: BudgetedBatch): Promise<boolean> {
  return asActivity(isBudgetSpent, place.deps, batch);
}

describe('the failure budget', () => {
  it.each([
    ['fewer answers than say anything', 49, 0, 0.5, false],
    ['fifty answers, all refused', 50, 0, 0.5, true],
    ['exactly the share that is allowed', 25, 25, 0.5, false],
    ['one more than that', 26, 25, 0.5, true],
    ['a budget of nothing, and one refusal', 1, 49, 0, true],
    ['a budget of nothing, and no refusal', 0, 50, 0, false],
    ['a budget of everything', 60, 0, 1, false],
  ])('%s', async (_, refused, taken, failureBudget, spent) => {
    const place = placeOf({ settings: { failureBudget } });
    const batch = await answered(place, refused, taken);

    const answers = refused + taken;
    expect(await readBudget(place.deps, batch)).toEqual({ spent, refused, answers, failed: 0, finalWords: 0 });
    expect(await holdOverBudget(place.deps, batch)).toBe(spent);
    const last = await batch.line(`R${refused + taken}`);
    expect([last.state, last.reason?.code ?? null]).toEqual(
      spent ? ['held', 'failure-budget-spent'] : ['staged', null],
    );
  });

  it('is spent by refusals alone, without looking for reported failures', async () => {
    const place = saying(() => SAID_FAILED);
    const batch = await answered(place, 40, 20);
    const reportedFailures = () => Promise.reject(new Error('nobody should look'));
    const deps = { ...place.deps, ledger: { ...place.deps.ledger, reportedFailures } };

    expect(await look({ ...place, deps }, batch)).toBe(true);
  });

  it('asks for no reported failure while all that are reported would not spend it', async () => {
    const place = saying(() => SAID_FAILED);
    const batch = await answered(place, 0, 60);
    await events(place, 'failed', 0, 49);

    expect(await look(place, batch)).toBe(false);

    expect(place.asked).toEqual([]);
  });

  it('tells how many were refused and failed', async () => {
    const place = saying(() => SAID_FAILED);
    const batch = await answered(place, 25, 60);
    await events(place, 'issued', 0, 30);
    await events(place, 'failed', 30, 60);

    expect(await look(place, batch)).toBe(true);
    expect(await holdOverBudget(place.deps, batch)).toBe(true);

    expect((await batch.lines()).at(-1)?.reason?.message).toBe(
      'The service refused 25 of the first 85 invoices and failed 30 of the first 60 that it called issued or failed, together more than LOTE_FAILURE_BUDGET allows. The rest was not sent: look at the refusals and failures, then drop the file again.',
    );
  });
});

describe('the failure budget and failures', () => {
  it('is spent by reported failures that the service confirms', async () => {
    const place = saying(() => SAID_FAILED);
    const batch = await acceptedBatch(place, 60);
    await events(place, 'failed', 0, 50);

    expect((await readBudget(place.deps, batch)).spent, 'an event alone').toBe(false);
    expect(await look(place, batch)).toBe(true);
    expect(place.asked).toHaveLength(50);
    expect(await holdOverBudget(place.deps, batch)).toBe(true);
    expect(await outcomesOf(place, batch.batchId)).toEqual({ failed: 50, accepted: 10, held: 3 });
    expect((await batch.line('R60')).reason).toMatchObject({ code: 'failure-budget-spent' });
  });

  it('is not spent by reported failures that the service does not confirm', async () => {
    const place = saying(() => SAID_PROCESSING);
    const batch = await acceptedBatch(place, 60);
    await events(place, 'failed', 0, 60);

    expect(await look(place, batch)).toBe(false);
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
    const counted = { ...place, deps: { ...place.deps, ledger } };

    expect(await look(counted, batch)).toBe(false);
    await events(place, 'failed', 25, 26);
    await expect(look(counted, batch)).rejects.toThrow('nobody should count');
  });

  it('counts reported failures of invoices that were accepted before the round', async () => {
    const place = saying(() => SAID_FAILED);
    const batch = await acceptedBatch(place, 60);
    const { before } = await runningBatch(place.deps, await batch.record());
    await events(place, 'failed', 0, 60);

    expect(before).toMatchObject({ pending: 60 });
    expect(await look(place, { batchId: batch.batchId, before })).toBe(true);
  });

  it('leaves out what the retry policy sends again, and what was said before the round', async () => {
    const retry = { ...RETRY, failedReasonCodes: [REASON.code] };
    const mending = saying(() => SAID_FAILED, { retry });
    const mended = await acceptedBatch(mending, 60);
    await events(mending, 'failed', 0, 60);
    expect(await look(mending, mended)).toBe(false);
    expect(await outcomesOf(mending, mended.batchId)).toMatchObject({ failed: 60 });

    const place = saying(() => SAID_FAILED);
    const batch = await acceptedBatch(place, 60);
    await events(place, 'failed', 0, 60);
    expect(await look(place, batch)).toBe(true);
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

/** Slices of one process, and of another one, that watch a batch of which each of 60 invoices is reported as failed. */
async function watching(place: ActivityPlace, overlay: Partial<Ledger> = {}) {
  const batch = await acceptedBatch(place, 60);
  await events(place, 'failed', 0, 60);
  const counts = { looks: 0 };
  const { ledger } = place.deps;
  const counting: Ledger = {
    ...ledger,
    countAnswers(...of) {
      counts.looks += 1;
      return ledger.countAnswers(...of);
    },
    ...overlay,
  };
  const deps = { ...place.deps, ledger: counting };
  const [watchOf, watchElsewhere] = [createFailureWatches(), createFailureWatches()];
  const look = (watch: ReturnType<typeof watchOf>) => asActivity(async () => watch.look(), deps, undefined);
  return { slice: () => watchOf(deps, batch), elsewhere: () => watchElsewhere(deps, batch), look, counts };
}

describe('the failures of a batch', () => {
  it('are looked at again after a look that failed', async () => {
    const place = saying(() => SAID_FAILED);
    let isAway = true;
    const { reportedFailures } = place.deps.ledger;
    const { slice, look } = await watching(place, {
      reportedFailures: (...of) => (isAway ? Promise.reject(new Error('away')) : reportedFailures(...of)),
    });
    const one = slice();
    place.later(1_000);
    await expect(look(one)).rejects.toThrow('away');
    isAway = false;
    place.later(1_000);

    await look(one);

    expect(one.spent).toBe(true);
  });

  it('are not counted again once they have spent the budget', async () => {
    const place = saying(() => SAID_FAILED);
    const { slice, look, counts } = await watching(place);
    const one = slice();
    place.later(1_000);
    await look(one);
    const before = counts.looks;
    place.later(60_000);
    await look(one);

    expect([one.spent, counts.looks]).toEqual([true, before]);
  });

  it('are known to every slice of the process that is still sending, and also to one that begins later', async () => {
    const place = saying(() => SAID_FAILED);
    const { slice, look } = await watching(place);
    const [first, second] = [slice(), slice()];
    place.later(1_000);
    await look(first);
    first.leave();

    expect([second.spent, slice().spent]).toEqual([true, true]);
  });

  it('that another process has confirmed stop all slices once one of them ends', async () => {
    const place = saying(() => SAID_FAILED);
    const { slice, elsewhere, look } = await watching(place);
    const [first, second] = [slice(), slice()];
    const other = elsewhere();
    place.later(1_000);
    await look(other);
    const known = second.spent;

    expect(await first.hold()).toBe(true);
    expect(known).toBe(false);
    expect(second.spent).toBe(true);
  });
});
