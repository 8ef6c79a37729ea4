import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { closePage } from '../../../../activities/settling/close-page.ts';
import type { SliceResult } from '../../../../activities/sending/slice.ts';
import { createSubmitSlice } from '../../../../activities/sending/submit-slice.ts';
import type { CreateAnswer } from '../../../../src/domain/ports/invoicing-service.ts';
import { NIF, NOW, REASON, type TestBatch } from '../../../contract/ledger/scenario.ts';
import { until } from '../../../support/until.ts';
import { activityPlaces, asActivity, outcomesOf, type ActivityPlace } from '../activity-place.ts';

const placeOf = activityPlaces();
const SAID = { code: 'tax-code', message: 'HTTP 422: unknown tax code' };
const REFUSED: CreateAnswer = { kind: 'refused', reason: SAID };
const UNAUTHORIZED: CreateAnswer = {
  ...{ kind: 'access-denied', retryAfterMs: null, mayExist: false },
  reason: { code: 'http-401', message: 'HTTP 401' },
};
const FORBIDDEN: CreateAnswer = {
  ...{ kind: 'access-denied', retryAfterMs: null, mayExist: false },
  reason: { code: 'http-403', message: 'HTTP 403' },
};
const REDIRECT: CreateAnswer = {
  ...{ kind: 'access-denied', retryAfterMs: null, mayExist: true },
  reason: { code: 'redirect', message: 'HTTP 303' },
};

interface SlicePlace extends ActivityPlace {
  /** References in the order of their POSTs. */
  readonly posts: string[];
  /** Of these ordinals, or of all. */
  slice(batch: TestBatch, from?: number, to?: number): Promise<SliceResult>;
  batch(count: number): Promise<TestBatch>;
}

/** A worker whose service answers by reference. */
function sending(answer: (ref: string, nth: number) => CreateAnswer, maxConcurrency = 1): SlicePlace {
  const posts: string[] = [];
  const place = placeOf({
    settings: { maxConcurrency },
    service: {
      createInvoice(body) {
        const { ref } = JSON.parse(body) as { ref: string };
        posts.push(ref);
        return Promise.resolve(answer(ref, posts.length));
      },
    },
  });
  const submit = createSubmitSlice(place.deps);
  return {
    ...{ ...place, posts },
    slice: ({ batchId }, from = 1, to = 1_000) =>
      asActivity(submit, place.deps, { ledgerId: place.deps.ledger.id, batchId, page: 1, from, to }),
    async batch(count) {
      const texts = Array.from({ length: count }, (_, at) => ({ ref: `R${at}` }));
      const batch = await place.scenario.run(texts, 1_000);
      await place.deps.ledger.saveMerchants(place.scenario.application, [{ nif: NIF, merchantId: 'mrc_1' }]);
      return batch;
    },
  };
}

let made = 0;
function created(): CreateAnswer {
  return { kind: 'created', serviceId: `inv_slice_${process.pid}_${(made += 1)}` };
}

describe('a slice of invoices', () => {
  it('goes on with further invoices while answers wait to be recorded', async () => {
    const concurrency = 16;
    const place = sending(() => created(), concurrency);
    const { batchId } = await place.batch(3 * concurrency);
    const { ledger } = place.deps;
    const recordSends: typeof ledger.recordSends = async (items) => {
      await until(() => place.posts.length > concurrency);
      return ledger.recordSends(items);
    };
    const deps = { ...place.deps, ledger: { ...ledger, recordSends } };
    const input = { ledgerId: ledger.id, batchId, page: 1, from: 1, to: 1_000 };

    expect(await asActivity(createSubmitSlice(deps), deps, input)).toMatchObject({
      accepted: 3 * concurrency,
      left: 0,
    });
    expect(new Set(place.posts).size).toBe(place.posts.length);
  });

  it('is sent, each once, and every answer is written down', async () => {
    const place = sending((ref) => (ref === 'R1' ? REFUSED : created()));
    const batch = await place.batch(3);

    expect(await place.slice(batch)).toEqual({ accepted: 2, left: 0, stop: false, triedMs: 0, waiting: null });
    expect(place.posts).toEqual(['R0', 'R1', 'R2']);
    expect(await batch.line('R1')).toMatchObject({ state: 'rejected', reason: SAID, attempts: 1 });
  });

  it('has nothing to do when it was done before', async () => {
    const place = sending(created);
    const batch = await place.batch(2);
    await place.slice(batch);

    expect(await place.slice(batch)).toEqual({ accepted: 0, left: 0, stop: false, triedMs: 0, waiting: null });
    expect(place.posts).toHaveLength(2);
  });

  it('leaves an invoice whose merchant is not known, and sends the others', async () => {
    const place = sending(created);
    const batch = await place.scenario.run([{ ref: 'A', nif: '502757191' }, { ref: 'B' }], 1_000);
    await place.deps.ledger.saveMerchants(place.scenario.application, [{ nif: NIF, merchantId: 'mrc_1' }]);

    expect((await place.slice(batch)).accepted).toBe(1);
    expect(place.posts).toEqual(['B']);
  });

  it('leaves what asks for patience to the page, with the time that was asked for', async () => {
    const place = sending((ref) =>
      ref === 'R0' ? { kind: 'not-now', reason: REASON, retryAfterMs: 30_000 } : created(),
    );
    const batch = await place.batch(2);

    expect(await place.slice(batch)).toEqual({
      ...{ accepted: 1, left: 1, stop: false, triedMs: 0 },
      waiting: { reason: 'retry-after', probeAfterMs: 30_000 },
    });
    expect(await batch.line('R0')).toMatchObject({ state: 'sending', reason: REASON });
  });

  it('says for how long it could send, and not for how long its process stood still', async () => {
    async function triedMs(answerAfterMs: number): Promise<number | undefined> {
      const place: SlicePlace = sending(() => {
        place.later(answerAfterMs);
        return created();
      });
      return (await place.slice(await place.batch(1))).triedMs;
    }

    expect([await triedMs(1_500), await triedMs(3_600_000)]).toEqual([1_500, 60_000]);
  });

  it('does not send again what may exist when its window ends while it waits for its turn', async () => {
    const place = sending((_, nth) => {
      if (nth <= 2) return { kind: 'lost', reason: REASON, retryAfterMs: 5_000 };
      place.later(50_000);
      return created();
    });
    const batch = await place.batch(2);
    await place.slice(batch);
    place.later(86_400_000 - 30_000);

    expect(await place.slice(batch)).toMatchObject({ accepted: 1, left: 0 });

    expect(place.posts).toEqual(['R0', 'R1', 'R0']);
    expect(await batch.line('R1')).toMatchObject({
      ...{ state: 'unknown', attempts: 1 },
      reason: { code: 'retention-window-over' },
    });
  });

  it('gives the turn of a probe back when its window is over before it could leave', async () => {
    const place = sending(() => ({ kind: 'lost', reason: REASON, retryAfterMs: 5_000 }));
    const batch = await place.batch(1);
    await place.slice(batch);
    const { ledger, service } = place.deps;
    const open = { baseUrl: service.baseUrl, reason: REASON, openedAt: NOW, probeAfter: NOW };
    await ledger.openBreaker(open);
    place.later(86_400_000 - 30_000);
    // Inside the window when the slice begins, and outside of it by the time the probe would leave.
    const slow: typeof ledger = {
      ...ledger,
      async freeze(...what) {
        const frozen = await ledger.freeze(...what);
        place.later(60_000);
        return frozen;
      },
    };
    const deps = { ...place.deps, ledger: slow };
    const input = { ledgerId: ledger.id, batchId: batch.batchId, page: 1, from: 1, to: 1_000 };

    expect(await asActivity(createSubmitSlice(deps), deps, input)).toMatchObject({ accepted: 0, left: 0 });

    expect(place.posts).toHaveLength(1);
    expect((await ledger.breaker(service.baseUrl))?.probingUntil).toBeNull();
  });

  it('sends those first that had the fewest tries', async () => {
    const place = sending((_, nth) =>
      nth === 1 ? { kind: 'not-now', reason: REASON, retryAfterMs: 5_000 } : created(),
    );
    const batch = await place.batch(1);
    await place.slice(batch);
    const other = sending(created);

    expect(place.posts).toEqual(['R0']);
    await place.slice(batch);
    expect(await batch.line('R0')).toMatchObject({ state: 'accepted', attempts: 2 });
    expect(other.posts).toEqual([]);
  });
});

describe('a service that lets nobody in', () => {
  it('is asked once: the rest of the slice stays here, as unsent as it was', async () => {
    const place = sending(() => UNAUTHORIZED);
    const batch = await place.batch(5);

    expect(await place.slice(batch)).toEqual({
      ...{ accepted: 0, left: 5, stop: false, triedMs: 0 },
      waiting: { reason: 'http-401', probeAfterMs: 5_000 },
    });
    expect(place.posts).toHaveLength(1);
    expect(await place.deps.ledger.breaker(place.deps.service.baseUrl)).toMatchObject({
      ...{ reason: { code: 'http-401' }, openedAt: NOW, probeAfter: NOW + 5_000 },
    });
  });

  it('by a redirect leaves the one that was redirected as one that may exist, and the others as unsent as they were', async () => {
    const place = sending(() => REDIRECT);
    const batch = await place.batch(4);

    expect(await place.slice(batch)).toMatchObject({ accepted: 0, left: 4, waiting: { reason: 'redirect' } });
    expect(place.posts).toEqual(['R0']);
    await asActivity(closePage, place.deps, {
      ...{ ledgerId: place.deps.ledger.id, batchId: batch.batchId, page: 1, settleMs: 1_000 },
      ...{ ending: 'outage', waitedFor: 'redirect' },
    });
    expect(await outcomesOf(place, batch.batchId)).toEqual({ unknown: 1, held: 3 });
    expect(await batch.line('R0')).toMatchObject({ state: 'unknown', reason: { code: 'redirect' } });
  });

  it('and redirects an invoice is still refused nothing when a refusal comes after it', async () => {
    const place = sending((_, nth) => (nth === 1 ? REDIRECT : REFUSED));
    const batch = await place.batch(1);
    await place.slice(batch);
    place.later(5_000);

    await place.slice(batch);

    expect(place.posts).toEqual(['R0', 'R0']);
    expect(await batch.line('R0')).toMatchObject({
      state: 'unknown',
      reason: { code: 'refused-after-lost-answer', message: expect.stringContaining(SAID.message) as string },
    });
  });

  it('is not asked at all by the next slice until the probe’s time has come', async () => {
    const place = sending((_, nth) => (nth === 1 ? UNAUTHORIZED : created()));
    const batch = await place.batch(4);
    await place.slice(batch);

    const behind = await place.slice(batch);
    const posts = place.posts.length;
    place.later(5_000);
    const probed = await place.slice(batch);

    expect(behind).toEqual({
      accepted: 0,
      left: 4,
      stop: false,
      triedMs: 0,
      waiting: { reason: 'http-401', probeAfterMs: 5_000 },
    });
    expect(posts).toBe(1);
    expect(probed).toEqual({ accepted: 4, left: 0, stop: false, triedMs: 0, waiting: null });
    expect(await place.deps.ledger.breaker(place.deps.service.baseUrl)).toBeNull();
  });

  it('does so to one merchant only when others succeed after it: that invoice alone is refused', async () => {
    const place = sending((ref) => (ref === 'R1' ? FORBIDDEN : created()));
    const batch = await place.batch(4);

    expect(await place.slice(batch)).toMatchObject({ accepted: 3, left: 0, waiting: null });
    expect(await batch.line('R1')).toMatchObject({ state: 'rejected', reason: { code: 'http-403' } });
  });

  it.each(['not-now', 'lost'] as const)(
    'is not what a 403 says that the profile reads as %s: the invoice goes again, though others succeed after it',
    async (kind) => {
      const place = sending((ref) =>
        ref === 'R1'
          ? { kind, reason: { code: 'http-403', message: 'HTTP 403: slow down' }, retryAfterMs: 3_000 }
          : created(),
      );
      const batch = await place.batch(4);

      expect(await place.slice(batch)).toMatchObject({ accepted: 3, left: 1, waiting: { reason: 'retry-after' } });
      expect(await batch.line('R1')).toMatchObject({ state: 'sending' });
    },
  );

  it('to one merchant of several opens no circuit: five are refused, what is left of it is held, the others go', async () => {
    const place = sending((ref) => (ref.startsWith('X') ? FORBIDDEN : created()));
    const texts = Array.from({ length: 12 }, (_, at) => ({ ref: `X${at}`, nif: '502757191' }));
    const batch = await place.scenario.run([...texts, { ref: 'A' }, { ref: 'B' }], 1_000);
    const merchants = [NIF, '502757191'].map((nif, at) => ({ nif, merchantId: `mrc_${at}` }));
    await place.deps.ledger.saveMerchants(place.scenario.application, merchants);

    expect(await place.slice(batch)).toMatchObject({ accepted: 2, waiting: null });
    expect(await place.slice(batch)).toEqual({ accepted: 0, left: 0, stop: false, triedMs: 0, waiting: null });

    expect(place.posts).toEqual(['X0', 'X1', 'X2', 'X3', 'X4', 'A', 'B']);
    expect(await outcomesOf(place, batch.batchId)).toEqual({ rejected: 5, held: 7, accepted: 2 });
    expect(await batch.line('X11')).toMatchObject({ state: 'held', reason: { code: 'merchant-forbidden' } });
    expect(await place.deps.ledger.breaker(place.deps.service.baseUrl)).toBeNull();
  });

  it('by one 403 after the other opens the circuit from the fifth on, and nothing is refused', async () => {
    const place = sending(() => FORBIDDEN);
    const batch = await place.batch(9);

    expect(await place.slice(batch)).toMatchObject({ accepted: 0, left: 9, waiting: { reason: 'http-403' } });
    expect(place.posts).toHaveLength(5);
    expect(await outcomesOf(place, batch.batchId)).toEqual({ sending: 5, staged: 4 });
  });
});

describe('errors that are kept under keys', () => {
  const STORED: CreateAnswer = {
    ...{ kind: 'lost', retryAfterMs: null },
    reason: { code: 'internal-error', message: 'HTTP 500: this answer is kept' },
  };

  /** The first seven get errors for ever, and those after them are created. */
  async function sevenOfTwenty(): Promise<{ readonly place: SlicePlace; readonly batch: TestBatch }> {
    const place = sending((ref) => (Number(ref.slice(1)) < 7 ? STORED : created()), 64);
    place.deps.service.listMerchants = () => Promise.resolve({ kind: 'list', merchants: [] });
    return { place, batch: await place.batch(20) };
  }

  it('are those invoices’ own trouble: the circuit stays closed, and they end with that reason', async () => {
    const { place, batch } = await sevenOfTwenty();

    const left: number[] = [];
    for (let round = 1; round <= 4; round += 1) left.push((await place.slice(batch)).left);

    expect(left).toEqual([7, 7, 7, 0]);
    expect(await place.deps.ledger.breaker(place.deps.service.baseUrl)).toBeNull();
    expect(await outcomesOf(place, batch.batchId)).toEqual({ accepted: 13, unknown: 7 });
    expect(await batch.line('R0')).toMatchObject({ attempts: 12, reason: { code: 'stored-error' } });
  });

  it('make one question of many whether the service answers at all', async () => {
    const { place, batch } = await sevenOfTwenty();
    let open = 0;
    let most = 0;
    place.deps.service.listMerchants = async () => {
      most = Math.max(most, (open += 1));
      await sleep(50);
      open -= 1;
      return { kind: 'list', merchants: [] };
    };

    for (let round = 1; round <= 4; round += 1) await place.slice(batch);

    expect(await outcomesOf(place, batch.batchId)).toEqual({ accepted: 13, unknown: 7 });
    expect(most).toBe(1);
  });

  it('are not looked for in what every key gets: the circuit opens, and nothing ends', async () => {
    const place = sending(() => STORED, 64);
    place.deps.service.listMerchants = () => Promise.resolve({ kind: 'list', merchants: [] });
    const batch = await place.batch(5);

    for (let round = 1; round <= 5; round += 1) await place.slice(batch);

    expect(await place.deps.ledger.breaker(place.deps.service.baseUrl)).toMatchObject({
      reason: { code: 'internal-error' },
    });
    expect(await outcomesOf(place, batch.batchId)).toEqual({ sending: 5 });
    expect(place.posts).toHaveLength(60);
  });

  it('are told by time behind an open circuit, by one invoice at a time, and close it again', async () => {
    const place = sending(() => STORED, 64);
    place.deps.service.listMerchants = () => Promise.resolve({ kind: 'list', merchants: [] });
    const batch = await place.batch(5);
    for (let round = 1; round <= 4; round += 1) await place.slice(batch);
    place.later(place.deps.settings.sendMs / 2);

    expect(await place.slice(batch)).toEqual({ accepted: 0, left: 0, stop: false, triedMs: 0, waiting: null });

    expect(place.posts).toHaveLength(65);
    expect(await outcomesOf(place, batch.batchId)).toEqual({ unknown: 5 });
    expect(await place.deps.ledger.breaker(place.deps.service.baseUrl)).toBeNull();
  });

  it('are not found in an outage of everything, however long it lasts', async () => {
    const place = sending(() => STORED, 64);
    const reason = { code: 'service-unreachable', message: 'HTTP 503' };
    place.deps.service.listMerchants = () => Promise.resolve({ kind: 'unreadable', reason });
    const batch = await place.batch(5);
    for (let round = 1; round <= 6; round += 1) {
      await place.slice(batch);
      place.later(place.deps.settings.sendMs / 2);
    }

    expect(await outcomesOf(place, batch.batchId)).toEqual({ sending: 5 });
  });
});

describe('a service that refuses too much', () => {
  it('is not sent the rest of the batch', async () => {
    const place = sending(() => REFUSED);
    const batch = await place.batch(80);

    const result = await place.slice(batch);

    expect(result.stop).toBe(true);
    // Looked at after 16, 32 and 64 refusals: below 50 answers a share says nothing.
    expect(place.posts).toHaveLength(64);
    expect(await outcomesOf(place, batch.batchId)).toMatchObject({ rejected: 64 });
    expect((await batch.line('R79')).reason?.code).toBe('failure-budget-spent');
  });

  it('is judged by the whole batch, not by the slice that looks', async () => {
    const place = sending(() => REFUSED);
    const batch = await place.batch(120);
    const slice = (from: number, to: number) => place.slice(batch, from, to);

    expect((await slice(1, 40)).stop).toBe(false);
    expect((await slice(41, 80)).stop).toBe(true);

    expect(place.posts).toHaveLength(56);
    expect(await outcomesOf(place, batch.batchId)).toEqual({ rejected: 56, held: 64 });
  });

  it('within the budget is sent everything', async () => {
    const place = sending((_, nth) => (nth % 2 === 0 ? REFUSED : created()));
    const batch = await place.batch(80);

    expect(await place.slice(batch)).toEqual({ accepted: 40, left: 0, stop: false, triedMs: 0, waiting: null });
    expect(place.posts).toHaveLength(80);
  });
});
