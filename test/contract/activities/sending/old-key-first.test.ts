import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { sendAgain, letGo } from '../../../../activities/batch/retry.ts';
import { createSubmitSlice } from '../../../../activities/sending/submit-slice.ts';
import type { CreateAnswer, StatusAnswer } from '../../../../src/domain/records/service-answers.ts';
import { claimOf, NIF, NOW, REASON, type TestBatch } from '../../ledger/scenario.ts';
import { activityPlaces, asActivity, RETRY, type ActivityPlace } from '../activity-place.ts';

const FAILED: StatusAnswer = { kind: 'status', status: 'failed', reason: REASON };
const REFUSED: CreateAnswer = { kind: 'refused', reason: REASON };
const POLICY = { settings: { retry: { ...RETRY, failedReasonCodes: [REASON.code] } } };

interface Post {
  readonly key: string;
  readonly body: string;
}

/** How the first generation ended, and what made the next one. */
const WAYS = [
  { way: 'the retry policy', first: 'failed' },
  { way: "an operator's retry", first: 'failed' },
  { way: "an operator's retry", first: 'rejected' },
  { way: 'corrected content', first: 'failed' },
  { way: 'corrected content', first: 'rejected' },
] as const;

type Way = (typeof WAYS)[number];

/** What comes between the order to send it again and the POST. */
const EVENTS = ['nothing', 'an outage, and a release', 'a restore, with nothing sent since'] as const;

const OLD_KEY_ASKED = 'a restore, with the old key asked since';
const NEXT_KEY_USED = 'a restore, with the next key used since';

/** The failed document itself answers again, and its GET is a proof; a refusal is none where a POST left without the ledger. */
const ALL = WAYS.flatMap((one) =>
  [...EVENTS, ...(one.first === 'failed' ? [OLD_KEY_ASKED] : [])].map((event) => ({ ...one, event })),
);
const DOUBTFUL = WAYS.flatMap((one) =>
  [NEXT_KEY_USED, ...(one.first === 'failed' ? [] : [OLD_KEY_ASKED])].map((event) => ({ ...one, event })),
);

describe('a new generation', () => {
  const placeOf = activityPlaces();

  /** A place whose service says the same of a key each time: the first key is refused or fails, every other one brings a document. */
  function placeFor({ first }: Way) {
    const posts: Post[] = [];
    const ids = new Map<string, string>();
    const place = placeOf({
      ...POLICY,
      service: {
        listMerchants: () => Promise.resolve({ kind: 'list', merchants: [] }),
        createInvoice(body, key) {
          posts.push({ key, body });
          const isFirst = key === posts[0]?.key;
          if (isFirst && first === 'rejected') return Promise.resolve(REFUSED);
          const serviceId = ids.get(key) ?? `inv_${randomUUID()}`;
          ids.set(key, serviceId);
          return Promise.resolve({ kind: 'created', serviceId });
        },
        getInvoice: () => Promise.resolve(FAILED),
      },
    });
    const submit = createSubmitSlice(place.deps);
    const slice = async ({ batchId, fencingToken }: TestBatch) => {
      const input = { ledgerId: place.deps.ledger.id, ...claimOf(batchId), fencingToken, page: 1, from: 1, to: 9 };
      await asActivity(submit, place.deps, input);
    };
    return { place, posts, slice };
  }

  async function firstGeneration(place: ActivityPlace, slice: (batch: TestBatch) => Promise<void>): Promise<TestBatch> {
    const { ledger } = place.deps;
    const batch = await place.scenario.run([{ ref: 'R' }]);
    await ledger.saveMerchants(place.scenario.application, [{ nif: NIF, merchantId: 'mrc_1' }]);
    const { invoiceId } = await batch.one('R');
    await slice(batch);
    const { serviceId } = await batch.line('R');
    if (serviceId !== null)
      await ledger.recordStatus([{ invoiceId, serviceId, status: 'failed', reason: REASON, now: NOW }]);
    return batch;
  }

  /** Returns the batch that sends the next generation. */
  async function orderAgain(place: ActivityPlace, batch: TestBatch, { way, first }: Way): Promise<TestBatch> {
    if (way === 'corrected content') {
      await batch.finish();
      return place.scenario.run([{ ref: 'R', unitPrice: '99' }]);
    }
    await sendAgain(place.deps, {
      ...{ ledgerId: place.deps.ledger.id, batchId: batch.batchId, actionId: `${batch.batchId}/round-1` },
      requests: way === 'the retry policy' ? [] : [{ states: [first], reason: 'the engine is back' }],
      automatic: way === 'the retry policy',
    });
    return batch;
  }

  async function meet(place: ActivityPlace, batch: TestBatch, event: string): Promise<void> {
    const { ledger } = place.deps;
    const { identity, idempotencyKey } = await batch.one('R');
    if (event.startsWith('an outage')) {
      await ledger.holdUnsent(batch.batchId, { reason: REASON, now: NOW });
      await batch.finish();
      await batch.claim({ runId: 'run-1' });
      await letGo(place.deps, batch);
      return;
    }
    const sends =
      event === OLD_KEY_ASKED
        ? [{ identity, idempotencyKey, sentAt: NOW }]
        : event === NEXT_KEY_USED
          ? [{ identity, idempotencyKey: 'lote_next', sentAt: NOW }]
          : [];
    if (event.startsWith('a restore')) await ledger.takeLostSends({ positions: new Map(), sends, now: NOW });
  }

  it.each(ALL)('by $way of what was $first, after $event, asks the old key first', async ({ event, ...one }) => {
    const { place, posts, slice } = placeFor(one);
    const batch = await orderAgain(place, await firstGeneration(place, slice), one);
    await meet(place, batch, event);
    await slice(batch);
    expect(posts.slice(1), 'the old key with the old bytes').toEqual(posts.slice(0, 1));
    await slice(batch);
    expect(posts).toHaveLength(3);
    expect(posts[2]?.key).not.toBe(posts[0]?.key);
    expect(await batch.line('R')).toMatchObject({ state: 'accepted', generation: 2 });
  });

  it.each(DOUBTFUL)(
    'by $way of what was $first, after $event, uses no new key by itself',
    async ({ event, ...one }) => {
      const { place, posts, slice } = placeFor(one);
      const batch = await orderAgain(place, await firstGeneration(place, slice), one);
      await meet(place, batch, event);
      for (let round = 0; round < 2; round += 1) {
        // oxlint-disable-next-line no-await-in-loop -- rounds of one batch
        await slice(batch);
        // oxlint-disable-next-line no-await-in-loop -- rounds of one batch
        await letGo(place.deps, batch);
      }
      const [first, ...later] = posts.map(({ key, body }) => `${key} ${body}`);
      expect([...new Set(later)]).toEqual(event === OLD_KEY_ASKED ? [first] : []);
    },
  );
});
