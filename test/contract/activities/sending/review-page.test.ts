import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, it } from 'vitest';
import { closePage, reviewPage, type PageReview } from '../../../../activities/settling/settle.ts';
import { pollTimes } from '../../../../src/domain/time/poll-times.ts';
import { delivery, NOW, serviceIdOf, type TestBatch } from '../../../contract/ledger/scenario.ts';
import { activityPlaces, asActivity, outcomesOf, type ActivityPlace } from '../activity-place.ts';
import { acceptedBatch, statusPlaces } from './accepted-batch.ts';
import type { StatusAnswer } from '../../../../src/domain/records/service-answers.ts';

const placeOf = activityPlaces();
const saying = statusPlaces(placeOf);
const SETTLE_MS = 900_000;
const ISSUED: StatusAnswer = { kind: 'status', status: 'issued', reason: null };
const PROCESSING: StatusAnswer = { ...ISSUED, status: 'processing' };
const ALL_SAID = { accepted: 0, attached: 0, nextAskInMs: null, settleEndsInMs: null };

function notNow(code: string): StatusAnswer {
  return { kind: 'not-now', reason: { code, message: code }, retryAfterMs: null };
}

function numberOf(serviceId: string): number {
  return Number(/\d+$/.exec(serviceId)?.[0] ?? 0);
}

function acceptedOnes(place: ActivityPlace, count: number): Promise<TestBatch> {
  return acceptedBatch(place, count, 0);
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
  it.each<readonly [string, StatusAnswer, number, number, Partial<PageReview>, number]>([
    [
      'asks for no status in the first half minute: webhooks come first',
      ...([PROCESSING, 3, 29_999] as const),
      { accepted: 3, attached: 0, nextAskInMs: 1, settleEndsInMs: SETTLE_MS - 29_999 },
      0,
    ],
    ['asks when the time has come, and believes what it is told', ISSUED, 3, 30_000, ALL_SAID, 3],
    [
      'asks a few of many while none has a final word: an engine that needs its time is not asked by thousands',
      ...([PROCESSING, 100, 30_000, { accepted: 100 }, 20] as const),
    ],
    [
      'asks more and more as long as the answers are final: then webhooks were lost',
      ...([ISSUED, 100, 30_000, ALL_SAID, 100] as const),
    ],
    [
      'asks every one of them before the settle time ends',
      ...([PROCESSING, 100, SETTLE_MS - 1, { accepted: 100, settleEndsInMs: 1 }, 100] as const),
    ],
    [
      'has waited long enough when the settle time is over, not longer',
      ...([PROCESSING, 1, 2 * SETTLE_MS, { accepted: 1, nextAskInMs: null, settleEndsInMs: 0 }, 1] as const),
    ],
  ])('%s', async (_, answer, count, later, reviewed, asked) => {
    const place = saying(() => answer);
    const batch = await acceptedOnes(place, count);
    place.later(later);

    expect(await review(place, batch)).toMatchObject(reviewed);

    expect(new Set(place.asked).size).toBe(asked);
    const isIssued = answer === ISSUED;
    expect(await outcomesOf(place, batch.batchId)).toEqual({ [isIssued ? 'issued' : 'accepted']: count });
  });

  it('asks at once, and waits no longer, where a clock that ran ahead wrote down when they were accepted', async () => {
    const place = saying(() => PROCESSING);
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

  it('asks each once for each of the settled times', async () => {
    const place = saying(() => PROCESSING);
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

  it.each([SETTLE_MS, 60_000, 4_000])(
    'asks each silent invoice three to six times, spread over a settle time of %i ms',
    async (settleMs) => {
      const place = saying(() => PROCESSING);
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
    const notFound = { code: 'http-404', message: 'not found' };
    const place: ActivityPlace = saying(() =>
      place.deps.now() - NOW < 40_000 ? { kind: 'status', status: 'unreadable', reason: notFound } : ISSUED,
    );
    const batch = await acceptedOnes(place, 100);
    for (const step of [15_000, 15_000, 27_000]) {
      place.later(step);
      await review(place, batch, 60_000);
    }

    expect(await outcomesOf(place, batch.batchId)).toEqual({ issued: 100 });
  });

  it('does not let the settle time end before a service that answers slowly was asked for each', async () => {
    const place: ReturnType<typeof saying> = saying(() => {
      place.later(2_000);
      return PROCESSING;
    });
    const batch = await acceptedOnes(place, 100);
    place.later(SETTLE_MS);

    expect(await review(place, batch)).toMatchObject({ accepted: 100, nextAskInMs: 0, settleEndsInMs: 1 });
    expect(new Set(place.asked).size).toBeLessThan(100);
    while ((await review(place, batch)).settleEndsInMs !== 0);
    expect(new Set(place.asked).size).toBe(100);
  });

  it('asks each again whose last poll had no answer: of a service with 30 % errors none is left out', async () => {
    const tries = new Map<string, number>();
    const place = saying((serviceId) => {
      const nth = (tries.get(serviceId) ?? 0) + 1;
      tries.set(serviceId, nth);
      // Three in ten of each round get no answer, and one of them four times.
      return numberOf(serviceId) % 10 < 3 && nth < 4 ? notNow('http-503') : ISSUED;
    });
    const batch = await acceptedOnes(place, 60);
    place.later(SETTLE_MS);

    expect(await review(place, batch)).toMatchObject({ accepted: 0 });

    expect(await outcomesOf(place, batch.batchId)).toEqual({ issued: 60 });
  });

  it('asks every one, though the first ones get an error at once', async () => {
    const place = saying((id) => (numberOf(id) < 15 ? notNow('http-500') : ISSUED), { maxConcurrency: 1 });
    const batch = await acceptedOnes(place, 40);
    place.later(SETTLE_MS);

    await review(place, batch);

    expect(await outcomesOf(place, batch.batchId)).toMatchObject({ issued: 25 });
  });

  it('does not wait for a service that answers nothing', async () => {
    const place: ActivityPlace = saying(() => {
      place.later(45_000);
      return notNow('time-out');
    });
    const batch = await acceptedOnes(place, 10);
    place.later(SETTLE_MS);

    expect(await review(place, batch)).toMatchObject({ accepted: 10, settleEndsInMs: 0 });
  });

  it('is another attempt’s when its worker stops before the last question, and does not close', async () => {
    const env = new MockActivityEnvironment();
    const place = saying((_serviceId, signal) => {
      env.cancel('WORKER_SHUTDOWN');
      expect(signal?.aborted).toBe(true);
      return notNow('cancelled');
    });
    const batch = await acceptedOnes(place, 10);
    place.later(SETTLE_MS);

    const input = { ledgerId: place.deps.ledger.id, batchId: batch.batchId, page: 1, settleMs: SETTLE_MS };
    await expect(env.run(reviewPage, place.deps, input)).rejects.toMatchObject({
      ...{ type: 'worker-stops', nonRetryable: false },
    });
  });

  it('asks for a reported failure at once', async () => {
    const place = saying(() => ({ kind: 'status', status: 'unreadable', reason: null }));
    const batch = await acceptedOnes(place, 2);
    const serviceId = serviceIdOf(place.scenario, 'a1');
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

    expect(await review(place, batch)).toEqual(ALL_SAID);
  });
});
