import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, it } from 'vitest';
import {
  awaitFirstInvoices,
  firstInvoicesOf,
  judgeCanary,
  type FirstInvoicesInput,
} from '../../../../activities/sending/first-invoices.ts';
import type { BatchRecord } from '../../../../src/domain/records/batch-record.ts';
import { NOW, serviceIdOf, type TestBatch } from '../../ledger/scenario.ts';
import { activityPlaces, asActivity, outcomesOf, sentBatch, texts, type ActivityPlace } from '../activity-place.ts';
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

const FIRST = { page: 1, from: 1, to: 20, waitMs: 30_000 };

/** A batch of 25 whose first ones are accepted, and those after them refused. */
function answered(place: ActivityPlace, accepted: number, refused: number): Promise<TestBatch> {
  return sentBatch(place, [...acceptances(place, accepted), ...rejections(refused)], 25 - accepted - refused);
}

function judge({ deps }: ActivityPlace, { batchId }: TestBatch, first: typeof FIRST = FIRST) {
  return asActivity(judgeCanary, deps, { ledgerId: deps.ledger.id, batchId, first });
}

describe('the invoices that go first', () => {
  /** Of a batch of 25 that says it has so many invoices. */
  it.each<readonly [string, Partial<BatchRecord>, number, object | undefined]>([
    ['the first twenty of a batch of two hundred or more', {}, 0, { page: 1, from: 1, to: 20, waitMs: 30_000 }],
    ['none of a smaller one', { invoices: 199 }, 0, undefined],
    ['those that are left to send', {}, 4, { page: 1, from: 5, to: 24 }],
    ['of one page', { pageSize: 15 }, 0, { page: 1, from: 1, to: 15 }],
    ['of one page, the first with something to send', { pageSize: 10 }, 10, { page: 2, from: 11, to: 20 }],
    ['none when nothing is left to send', {}, 25, undefined],
  ])('are %s', async (_, over, sent, first) => {
    const place = placeOf();
    const batch = await sentBatch(place, rejections(sent), 25 - sent);

    const found = await firstInvoicesOf(place.deps, { ...(await batch.record()), invoices: 200, ...over });

    if (first === undefined) expect(found).toBeUndefined();
    else expect(found).toMatchObject(first);
  });

  /** So many invoices of each merchant, one after the other. */
  it.each([
    ['those where the second merchant begins, half of them of each', [35, 30], 1_000, { page: 1, from: 26, to: 45 }],
    ['the first ones when these are of several merchants', [19, 30], 1_000, { page: 1, from: 1, to: 20 }],
    ['of one page', [35, 30], 30, { page: 2, from: 31, to: 50 }],
    ['of one page, and fewer at its end', [35, 30], 40, { page: 1, from: 26, to: 40 }],
    ['fewer where the file ends', [35, 3], 1_000, { page: 1, from: 26, to: 38 }],
  ] as const)('of a file in the order of its merchants are %s', async (_, counts, pageSize, first) => {
    const place = placeOf();
    const invoices = counts.flatMap((count, at) =>
      texts(count, `M${at}-`).map(({ ref }) => ({ ref, nif: String(501_000_000 + at) })),
    );
    const batch = await place.scenario.run(invoices, pageSize);

    expect(await firstInvoicesOf(place.deps, { ...(await batch.record()), invoices: 200 })).toMatchObject(first);
  });
});

describe('the wait for final words of the first invoices', () => {
  /** Asks of a wait of four seconds, on a clock that moves only while the activity sleeps: at which time, and how many. */
  async function asksOf(
    place: ActivityPlace & { readonly asked: readonly string[] },
    batch: TestBatch,
    over: { readonly spentMs?: number; readonly from?: number; readonly to?: number; readonly waitMs?: number } = {},
  ) {
    const { spentMs = 0, from = 1, to = 20, waitMs = 4_000 } = over;
    const input: FirstInvoicesInput = {
      ...{ ledgerId: place.deps.ledger.id, batchId: batch.batchId },
      first: { page: 1, from, to, waitMs },
    };
    const env = new MockActivityEnvironment({
      scheduledTimestampMs: NOW,
      currentAttemptScheduledTimestampMs: NOW + spentMs,
    });
    const start = place.deps.now();
    const asks: { readonly at: number; readonly count: number }[] = [];
    let seen = 0;
    const note = (): void => {
      const count = place.asked.length - seen;
      if (count > 0) asks.push({ at: place.deps.now() - start, count });
      seen = place.asked.length;
    };
    const sleeps: number[] = [];
    Object.assign(env.context, {
      sleep(ms: number) {
        note();
        sleeps.push(ms);
        place.later(ms);
        return Promise.resolve();
      },
    });
    await env.run(awaitFirstInvoices, place.deps, input);
    note();
    return { asks, sleeps };
  }

  it('ends at once when it is shorter than a millisecond, also in a later attempt', async () => {
    const place = saying(() => SAID_PROCESSING);

    const { asks } = await asksOf(place, await acceptedBatch(place, 20), { waitMs: 0, spentMs: 1_000 });

    expect(asks).toEqual([{ at: 0, count: 20 }]);
  });

  it('asks for each at an eighth, a quarter and half of it, and at its end', async () => {
    const place = saying(() => SAID_PROCESSING);

    const { asks, sleeps } = await asksOf(place, await acceptedBatch(place, 20));

    expect(asks).toEqual([
      { at: 500, count: 20 },
      { at: 1_000, count: 20 },
      { at: 2_000, count: 20 },
      { at: 4_000, count: 20 },
    ]);
    expect(sleeps[0], 'soon at first').toBe(25);
    expect(Math.max(...sleeps), 'and at least twice a second').toBeLessThanOrEqual(500);
  });

  it('of a later attempt goes on where the one before was', async () => {
    const place = saying(() => SAID_PROCESSING);

    const { asks } = await asksOf(place, await acceptedBatch(place, 20), { spentMs: 1_000 });

    expect(asks).toEqual([
      { at: 0, count: 20 },
      { at: 1_000, count: 20 },
      { at: 3_000, count: 20 },
    ]);
  });

  it('ends at once when its worker stops, and is another attempt’s', async () => {
    const place = saying(() => SAID_PROCESSING);
    const { batchId } = await acceptedBatch(place, 20);
    const env = new MockActivityEnvironment({ scheduledTimestampMs: NOW, currentAttemptScheduledTimestampMs: NOW });
    env.cancel('WORKER_SHUTDOWN');

    const input: FirstInvoicesInput = { ledgerId: place.deps.ledger.id, batchId, first: FIRST };
    await expect(env.run(awaitFirstInvoices, place.deps, input)).rejects.toMatchObject({
      ...{ type: 'worker-stops', nonRetryable: false },
    });

    expect(place.asked).toEqual([]);
  });

  it('asks for none but the first ones', async () => {
    const place = saying(() => SAID_PROCESSING);
    const batch = await acceptedBatch(place, 25);

    await asksOf(place, batch, { from: 3, to: 22 });

    const first = Array.from({ length: 20 }, (_, at) => serviceIdOf(place.scenario, `a${at + 2}`));
    expect(new Set(place.asked)).toEqual(new Set(first));
  });

  it('ends when one is issued, and asks for none then', async () => {
    const place = saying(() => SAID_PROCESSING);
    const batch = await acceptedBatch(place, 20);
    await events(place, 'issued', 3, 4);

    expect((await asksOf(place, batch)).asks).toEqual([]);
  });

  it('ends when each failed, and the rest is then held', async () => {
    const place = saying(() => SAID_FAILED);
    const batch = await acceptedBatch(place, 20);
    await events(place, 'failed', 0, 20);

    await asksOf(place, batch);

    expect(await judge(place, batch)).toBe(true);
    expect(await outcomesOf(place, batch.batchId)).toEqual({ failed: 20, held: 3 });
  });
});

describe('the first invoices of a batch', () => {
  it('hold the rest when each of them was refused, and say so to people and the log', async () => {
    const place = saying(() => SAID_FAILED);
    const batch = await answered(place, 0, 20);

    expect(await judge(place, batch)).toBe(true);

    expect(await outcomesOf(place, batch.batchId)).toEqual({ rejected: 20, held: 5 });
    expect((await batch.line('R24')).reason).toEqual({
      code: 'first-invoices-refused',
      message:
        'The service refused all of the first 20 invoices. The rest was not sent: look at these invoices, then drop the file again, or use lote retry BATCH --state held.',
    });
    const fields = { batchId: batch.batchId, refused: 20, held: 5 };
    const message = 'the first invoices of a batch were all refused';
    expect(place.logged).toEqual([{ level: 'warn', message, fields }]);
  });

  it.each([
    [20, 0],
    [15, 5],
  ])('hold the rest when %i failed and %i were refused', async (failed, refused) => {
    const place = saying(() => SAID_FAILED);
    const batch = await answered(place, failed, refused);
    await events(place, 'failed', 0, failed);

    expect(await judge(place, batch)).toBe(true);

    expect((await batch.line('R24')).reason).toEqual({
      code: 'first-invoices-failed',
      message: `The service refused ${refused} of the first 20 invoices and failed ${failed} of those it accepted; none was issued. The rest was not sent: look at these invoices, then drop the file again, or use lote retry BATCH --state held.`,
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
