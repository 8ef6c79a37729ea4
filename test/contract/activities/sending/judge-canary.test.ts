import { describe, expect, it } from 'vitest';
import { judgeCanary } from '../../../../activities/sending/first-invoices.ts';
import type { TestBatch } from '../../ledger/scenario.ts';
import { activityPlaces, asActivity, outcomesOf, sentBatch, type ActivityPlace } from '../activity-place.ts';
import { acceptances, events, rejections, SAID_FAILED, statusPlaces } from './accepted-batch.ts';

const saying = statusPlaces(activityPlaces());
const FIRST = { page: 1, from: 1, to: 20, waitMs: 30_000 };

/** A batch of 25 whose first ones are accepted, and those after them refused. */
function answered(place: ActivityPlace, accepted: number, refused: number): Promise<TestBatch> {
  return sentBatch(place, [...acceptances(place, accepted), ...rejections(refused)], 25 - accepted - refused);
}

function judge({ deps }: ActivityPlace, { batchId }: TestBatch, first: typeof FIRST = FIRST) {
  return asActivity(judgeCanary, deps, { ledgerId: deps.ledger.id, batchId, first });
}

describe('the first invoices of a batch', () => {
  it('hold the rest when each of them was refused, and say so to people and the log', async () => {
    const place = saying(() => SAID_FAILED);
    const batch = await answered(place, 0, 20);

    expect(await judge(place, batch)).toBe(true);

    expect(await outcomesOf(place, batch.batchId)).toEqual({ rejected: 20, held: 5 });
    expect((await batch.line('R24')).reason).toEqual({
      code: 'first-invoices-refused',
      message:
        'The service refused all of the first 20 invoices. The rest was not sent: look at the refusals, then drop the file again, or use lote retry BATCH --state held.',
    });
    const fields = { batchId: batch.batchId, refused: 20, held: 5 };
    const message = 'the first invoices of a batch were all refused';
    expect(place.logged).toEqual([{ level: 'warn', message, fields }]);
  });

  it.each([
    [20, 0, 'The service accepted the first 20 invoices and failed 20 of them; none was issued. '],
    [15, 5, 'The service refused 5 of the first 20 invoices and failed 15 of those it accepted; none was issued. '],
  ])('hold the rest when %i failed and %i were refused', async (failed, refused, says) => {
    const place = saying(() => SAID_FAILED);
    const batch = await answered(place, failed, refused);
    await events(place, 'failed', 0, failed);

    expect(await judge(place, batch)).toBe(true);

    expect((await batch.line('R24')).reason).toEqual({
      code: 'first-invoices-failed',
      message: `${says}The rest was not sent: look at the failures, then drop the file again, or use lote retry BATCH --state held.`,
    });
    expect(place.logged).toMatchObject([{ fields: { refused, failed, held: 5 } }]);
  });

  it('let the rest go when one of them was issued', async () => {
    const place = saying(() => SAID_FAILED);
    const batch = await answered(place, 1, 19);
    await events(place, 'issued', 0, 1);

    expect(await judge(place, batch)).toBe(false);

    expect(await outcomesOf(place, batch.batchId)).toEqual({ issued: 1, rejected: 19, staged: 5 });
    expect(place.logged).toEqual([]);
  });

  it('are judged without what other invoices of the batch met', async () => {
    const place = saying(() => SAID_FAILED);
    const batch = await answered(place, 2, 20);
    await events(place, 'issued', 0, 1);

    expect(await judge(place, batch, { ...FIRST, from: 3, to: 22 })).toBe(true);
  });

  it('stop nothing when nothing is left to hold', async () => {
    const place = saying(() => SAID_FAILED);
    const batch = await answered(place, 0, 25);

    expect(await judge(place, batch)).toBe(false);
  });
});
