import { describe, expect, it } from 'vitest';
import { holdOverBudget, isBudgetSpent, readBudget } from '../../../../../activities/sending/budgets.ts';
import type { TestBatch } from '../../../ledger/scenario.ts';
import { activityPlaces, asActivity, sentBatch, type ActivityPlace } from '../../activity-place.ts';
import { acceptances, events, rejections, SAID_FAILED, statusPlaces } from '../accepted-batch.ts';

const placeOf = activityPlaces();
const saying = statusPlaces(placeOf);

/** A batch whose first invoices were refused, then those that are accepted; the last three are not sent. */
function answered(place: ActivityPlace, refused: number, accepted: number): Promise<TestBatch> {
  return sentBatch(place, [...rejections(refused), ...acceptances(place, accepted)], 3);
}

function look(place: ActivityPlace, batch: TestBatch): Promise<boolean> {
  return asActivity((deps, one: TestBatch) => isBudgetSpent(deps, one), place.deps, batch);
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

  it.each<readonly [number, number, number, string, string]>([
    [40, 20, 0, 'The service refused 40 of the first 60 invoices, more than', 'refusals'],
    [
      0,
      60,
      10,
      'The service failed 50 of the first 60 invoices that it called issued or failed, more than',
      'failures',
    ],
    [
      25,
      60,
      30,
      'The service refused 25 of the first 85 invoices and failed 30 of the first 60 that it called issued or failed, together more than',
      'refusals and failures',
    ],
  ])('tells how many were refused and failed: %i refused, %i taken', async (refused, taken, issued, says, of) => {
    const place = saying(() => SAID_FAILED);
    const batch = await answered(place, refused, taken);
    if (refused < 40) {
      await events(place, 'issued', 0, issued);
      await events(place, 'failed', issued, taken);
    }

    expect(await look(place, batch)).toBe(true);
    expect(await holdOverBudget(place.deps, batch)).toBe(true);

    expect((await batch.lines()).at(-1)?.reason?.message).toBe(
      `${says} LOTE_FAILURE_BUDGET allows. The rest was not sent: look at the ${of}, then drop the file again.`,
    );
  });
});
