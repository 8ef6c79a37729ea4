import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, it } from 'vitest';
import { closePage } from '../../../../activities/settling/close-page.ts';
import { reviewPage, type PageReview } from '../../../../activities/settling/settle.ts';
import type { StatusAnswer } from '../../../../src/domain/ports/invoicing-service.ts';
import { pollTimes } from '../../../../src/domain/time/poll-times.ts';
import { accepted, delivery, NOW, serviceIdOf, type TestBatch } from '../../../contract/ledger/scenario.ts';
import { activityPlaces, asActivity, outcomesOf, sendFirst, type ActivityPlace } from '../activity-place.ts';

const placeOf = activityPlaces();
const SETTLE_MS = 900_000;
const PROCESSING: StatusAnswer = { kind: 'status', status: 'processing', reason: null };
const ISSUED: StatusAnswer = { kind: 'status', status: 'issued', reason: null };

/** A place whose service says this of every document, and remembers what it was asked. */
function saying(answer: StatusAnswer): ActivityPlace & { readonly asked: string[] } {
  const asked: string[] = [];
  const getInvoice = (serviceId: string): Promise<StatusAnswer> => {
    asked.push(serviceId);
    return Promise.resolve(answer);
  };
  return { ...placeOf({ service: { getInvoice } }), asked };
}

async function acceptedOnes(place: ActivityPlace, count: number): Promise<TestBatch> {
  const batch = await place.scenario.run(
    Array.from({ length: count }, (_, at) => ({ ref: `R${at}` })),
    1_000,
  );
  await sendFirst(
    place,
    batch,
    Array.from({ length: count }, (_, at) => accepted(serviceIdOf(place.scenario, String(at)))),
  );
  return batch;
}

function review(place: ActivityPlace, batch: TestBatch, settleMs = SETTLE_MS): Promise<PageReview> {
  const { id: ledgerId } = place.deps.ledger;
  return asActivity(reviewPage, place.deps, { ledgerId, batchId: batch.batchId, page: 1, settleMs });
}

function countOf(items: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return counts;
}

describe('a page that waits for final words', () => {
  it('asks nobody in the first half minute: webhooks are given their time', async () => {
    const place = saying(PROCESSING);
    const batch = await acceptedOnes(place, 3);
    place.later(29_999);

    expect(await review(place, batch)).toEqual({
      ...{ accepted: 3, attached: 0, nextAskInMs: 1, settleEndsInMs: SETTLE_MS - 29_999 },
    });
    expect(place.asked).toEqual([]);
  });

  it('asks at once, and waits no longer, where a clock that ran ahead wrote down when they were accepted', async () => {
    const place = saying(PROCESSING);
    const batch = await acceptedOnes(place, 3);
    place.later(-5 * 3_600_000);

    expect(await review(place, batch)).toEqual({ accepted: 3, attached: 0, nextAskInMs: null, settleEndsInMs: 0 });
    expect(place.asked).toHaveLength(3);
    const { id: ledgerId } = place.deps.ledger;
    const sent = { ending: 'sent', waitedFor: null } as const;
    const close = { ledgerId, batchId: batch.batchId, page: 1, fencingToken: batch.fencingToken, settleMs: SETTLE_MS };
    await asActivity(closePage, place.deps, { ...close, ...sent });
    expect(new Set((await batch.lines()).map(({ state }) => state))).toEqual(new Set(['unsettled']));
  });

  it('asks when the time has come, and believes what it is told', async () => {
    const place = saying(ISSUED);
    const batch = await acceptedOnes(place, 3);
    place.later(30_000);

    expect(await review(place, batch)).toEqual({ accepted: 0, attached: 0, nextAskInMs: null, settleEndsInMs: null });
    expect(await outcomesOf(place, batch.batchId)).toEqual({ issued: 3 });
  });

  it('asks each once for each of the settled times', async () => {
    const place = saying(PROCESSING);
    const batch = await acceptedOnes(place, 1);
    place.later(30_000);

    await review(place, batch);
    const first = place.asked.length;
    await review(place, batch);
    const again = place.asked.length;
    place.later(30_000);
    await review(place, batch);

    expect([first, again, place.asked.length]).toEqual([1, 1, 2]);
  });

  it('asks a few of many while none has a final word: an engine that needs its time is not asked by thousands', async () => {
    const place = saying(PROCESSING);
    const batch = await acceptedOnes(place, 100);
    place.later(30_000);

    await review(place, batch);

    expect(place.asked).toHaveLength(20);
    expect(new Set(place.asked).size).toBe(20);
  });

  it('asks more and more as long as the answers are final: then webhooks were lost', async () => {
    const place = saying(ISSUED);
    const batch = await acceptedOnes(place, 100);
    place.later(30_000);

    await review(place, batch);

    expect(place.asked).toHaveLength(100);
    expect(await outcomesOf(place, batch.batchId)).toEqual({ issued: 100 });
  });

  it('asks every one of them before the settle time ends', async () => {
    const place = saying(PROCESSING);
    const batch = await acceptedOnes(place, 100);
    place.later(SETTLE_MS - 1);

    expect(await review(place, batch)).toMatchObject({ accepted: 100, settleEndsInMs: 1 });
    expect(new Set(place.asked).size).toBe(100);
  });

  it.each([SETTLE_MS, 60_000, 4_000])(
    'asks each silent invoice three to six times, spread over a settle time of %i ms',
    async (settleMs) => {
      const place = saying(PROCESSING);
      const batch = await acceptedOnes(place, 60);
      let at = 0;
      for (const time of pollTimes({ settleMs, everyMs: null })) {
        place.later(time - at);
        at = time;
        await review(place, batch, settleMs);
      }

      const asks = [...countOf(place.asked).values()];
      expect(asks).toHaveLength(60);
      expect(Math.min(...asks)).toBeGreaterThanOrEqual(3);
      expect(Math.max(...asks)).toBeLessThanOrEqual(6);
    },
  );

  it('settles all of them when a GET finds a document only late, and the sample learned nothing', async () => {
    const settleMs = 60_000;
    const place = placeOf({
      service: {
        getInvoice: () =>
          Promise.resolve(
            place.deps.now() - NOW < 40_000
              ? { kind: 'status', status: 'unreadable', reason: { code: 'http-404', message: 'not found' } }
              : ISSUED,
          ),
      },
    });
    const batch = await acceptedOnes(place, 100);
    for (const step of [15_000, 15_000, 27_000]) {
      place.later(step);
      await review(place, batch, settleMs);
    }

    expect(await outcomesOf(place, batch.batchId)).toEqual({ issued: 100 });
  });

  it('does not let the settle time end before a service that answers slowly was asked for each', async () => {
    const asked: string[] = [];
    const place = placeOf({
      service: {
        getInvoice: (serviceId) => {
          asked.push(serviceId);
          place.later(2_000);
          return Promise.resolve(PROCESSING);
        },
      },
    });
    const batch = await acceptedOnes(place, 100);
    place.later(SETTLE_MS);

    const first = await review(place, batch);
    const askedAtFirst = new Set(asked).size;
    while ((await review(place, batch)).settleEndsInMs !== 0);

    expect(first).toMatchObject({ accepted: 100, nextAskInMs: 0, settleEndsInMs: 1 });
    expect(askedAtFirst).toBeLessThan(100);
    expect(new Set(asked).size).toBe(100);
  });

  it('does not wait for a service that answers nothing', async () => {
    const place = placeOf({
      service: {
        getInvoice: () => {
          place.later(45_000);
          return Promise.resolve({
            ...{ kind: 'not-now', reason: { code: 'time-out', message: 'no answer' }, retryAfterMs: null },
          } as const);
        },
      },
    });
    const batch = await acceptedOnes(place, 10);
    place.later(SETTLE_MS);

    expect(await review(place, batch)).toMatchObject({ accepted: 10, settleEndsInMs: 0 });
  });

  it('is another attempt’s when its worker stops before anybody was asked the last time, and does not close', async () => {
    const env = new MockActivityEnvironment();
    const place = placeOf({
      service: {
        getInvoice: (_serviceId, signal) => {
          env.cancel('WORKER_SHUTDOWN');
          expect(signal?.aborted).toBe(true);
          return Promise.resolve({
            ...{ kind: 'not-now', reason: { code: 'cancelled', message: 'not sent' }, retryAfterMs: null },
          } as const);
        },
      },
    });
    const batch = await acceptedOnes(place, 10);
    place.later(SETTLE_MS);

    const input = { ledgerId: place.deps.ledger.id, batchId: batch.batchId, page: 1, settleMs: SETTLE_MS };
    await expect(env.run(reviewPage, place.deps, input)).rejects.toMatchObject({
      ...{ type: 'worker-stops', nonRetryable: false },
    });
  });

  it('has waited long enough when the settle time is over, not longer', async () => {
    const place = saying(PROCESSING);
    const batch = await acceptedOnes(place, 1);
    place.later(2 * SETTLE_MS);

    expect(await review(place, batch)).toMatchObject({ accepted: 1, nextAskInMs: null, settleEndsInMs: 0 });
  });

  it('asks for a reported failure at once', async () => {
    const place = saying({ kind: 'status', status: 'unreadable', reason: null });
    const batch = await acceptedOnes(place, 2);
    const serviceId = serviceIdOf(place.scenario, '1');
    await place.deps.ledger.storeDeliveries([
      delivery(serviceId, 'failed', { reason: { code: 'tax', message: 'unknown tax code' }, receivedAt: NOW + 1 }),
    ]);
    await place.deps.ledger.applyDeliveries([serviceId]);

    await review(place, batch);

    expect(place.asked).toEqual([serviceId]);
    expect(await batch.line('R1')).toMatchObject({ state: 'failed', reason: { code: 'tax' } });
    expect((await batch.line('R0')).state).toBe('accepted');
  });

  it('says nothing of a page on which all is said', async () => {
    const place = placeOf();
    const batch = await place.scenario.run([{ ref: 'A' }], 1_000);
    await batch.send('A', { kind: 'rejected', reason: { code: 'x', message: 'x' } });

    expect(await review(place, batch)).toEqual({ accepted: 0, attached: 0, nextAskInMs: null, settleEndsInMs: null });
  });
});
