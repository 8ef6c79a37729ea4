import { describe, expect, it } from 'vitest';
import { judgeCanary } from '../../../../activities/sending/judge-canary.ts';
import type { SendOutcome } from '../../../../src/domain/ports/ledger/sending-ledger.ts';
import { REASON, type TestBatch } from '../../../contract/ledger/scenario.ts';
import { activityPlaces, asActivity, outcomesOf, sendFirst, type ActivityPlace } from '../activity-place.ts';
import { acceptances, events, SAID_FAILED, statusPlaces } from './accepted-batch.ts';

const saying = statusPlaces(activityPlaces());
const REJECTED: SendOutcome = { kind: 'rejected', reason: REASON };
const FIRST = { page: 1, from: 1, to: 20, waitMs: 30_000 };

/** A batch of 25 whose first ones are accepted, and those after them refused. */
async function answered(place: ActivityPlace, accepted: number, refused: number): Promise<TestBatch> {
  const texts = Array.from({ length: 25 }, (_, at) => ({ ref: `R${at}` }));
  const batch = await place.scenario.run(texts, 1_000);
  await sendFirst(place, batch, [...acceptances(place, accepted), ...Array.from({ length: refused }, () => REJECTED)]);
  return batch;
}

function judge({ deps }: ActivityPlace, { batchId }: TestBatch, first: typeof FIRST | undefined = FIRST) {
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
    expect(place.logged).toEqual([
      {
        level: 'warn',
        message: 'the first invoices of a batch were all refused',
        fields: { batchId: batch.batchId, refused: 20, held: 5 },
      },
    ]);
  });

  it('hold the rest when each of them failed', async () => {
    const place = saying(() => SAID_FAILED);
    const batch = await answered(place, 20, 0);
    await events(place, 'failed', 0, 20);

    expect(await judge(place, batch)).toBe(true);

    expect((await batch.line('R24')).reason).toEqual({
      code: 'first-invoices-failed',
      message:
        'The service accepted the first 20 invoices and failed 20 of them; none was issued. The rest was not sent: look at the failures, then drop the file again, or use lote retry BATCH --state held.',
    });
    expect(place.logged).toMatchObject([{ fields: { refused: 0, failed: 20, held: 5 } }]);
  });

  it('hold the rest when some were refused and the others failed', async () => {
    const place = saying(() => SAID_FAILED);
    const batch = await answered(place, 15, 5);
    await events(place, 'failed', 0, 15);

    expect(await judge(place, batch)).toBe(true);

    expect((await batch.line('R24')).reason?.message).toContain(
      'The service refused 5 of the first 20 invoices and failed 15 of those it accepted; none was issued. ',
    );
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

  it('are all of the batch in runs of an earlier version', async () => {
    const place = saying(() => SAID_FAILED);
    const batch = await answered(place, 0, 20);

    expect(await asActivity(judgeCanary, place.deps, { ledgerId: place.deps.ledger.id, batchId: batch.batchId })).toBe(
      true,
    );
  });

  it('stop nothing when nothing is left to hold', async () => {
    const place = saying(() => SAID_FAILED);
    const batch = await answered(place, 0, 25);

    expect(await judge(place, batch)).toBe(false);
  });
});
