import { describe, expect, it } from 'vitest';
import { holdOverBudget, isBudgetSpent } from '../../../../../activities/sending/budgets/failure-budget.ts';
import type { SendOutcome } from '../../../../../src/domain/ports/ledger/sending-ledger.ts';
import { REASON, type TestBatch } from '../../../ledger/scenario.ts';
import { activityPlaces, asActivity, sendFirst, type ActivityPlace } from '../../activity-place.ts';
import { acceptances, events, SAID_FAILED, statusPlaces } from '../accepted-batch.ts';

const saying = statusPlaces(activityPlaces());
const REJECTED: SendOutcome = { kind: 'rejected', reason: REASON };

/** A batch whose first invoices were refused, then those that are accepted; the last three are not sent. */
async function answered(place: ActivityPlace, refused: number, accepted: number): Promise<TestBatch> {
  const texts = Array.from({ length: refused + accepted + 3 }, (_, at) => ({ ref: `R${at}` }));
  const batch = await place.scenario.run(texts, 1_000);
  await sendFirst(place, batch, [...Array.from({ length: refused }, () => REJECTED), ...acceptances(place, accepted)]);
  return batch;
}

function look(place: ActivityPlace, batch: TestBatch): Promise<boolean> {
  return asActivity((deps, one: TestBatch) => isBudgetSpent(deps, one, () => undefined), place.deps, batch);
}

/** What the last invoice is told. */
async function messageOf(batch: TestBatch): Promise<string | undefined> {
  return (await batch.lines()).at(-1)?.reason?.message;
}

describe('the failure budget', () => {
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

  it('tells how many were refused of how many answers', async () => {
    const place = saying(() => SAID_FAILED);
    const batch = await answered(place, 40, 20);

    expect(await holdOverBudget(place.deps, batch)).toBe(true);

    expect(await messageOf(batch)).toBe(
      'The service refused 40 of the first 60 invoices, more than LOTE_FAILURE_BUDGET allows. The rest was not sent: look at the refusals, then drop the file again.',
    );
  });

  it('tells how many failed of those that have a final word', async () => {
    const place = saying(() => SAID_FAILED);
    const batch = await answered(place, 0, 60);
    await events(place, 'issued', 0, 10);
    await events(place, 'failed', 10, 60);

    expect(await look(place, batch)).toBe(true);
    await holdOverBudget(place.deps, batch);

    expect(await messageOf(batch)).toContain('failed 50 of the first 60 invoices that it called issued or failed');
  });

  it('tells of both when refusals and failures together spend it', async () => {
    const place = saying(() => SAID_FAILED);
    const batch = await answered(place, 25, 60);
    await events(place, 'issued', 0, 30);
    await events(place, 'failed', 30, 60);

    expect(await look(place, batch)).toBe(true);
    await holdOverBudget(place.deps, batch);

    expect(await messageOf(batch)).toBe(
      'The service refused 25 of the first 85 invoices and failed 30 of the first 60 that it called issued or failed, together more than LOTE_FAILURE_BUDGET allows. The rest was not sent: look at the refusals and failures, then drop the file again.',
    );
  });

  it('is not spent by a share of exactly what is allowed', async () => {
    const place = saying(() => SAID_FAILED);

    expect(await holdOverBudget(place.deps, await answered(place, 30, 30))).toBe(false);
  });
});
