import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, it } from 'vitest';
import { closePage } from '../../../../activities/settling/settle.ts';
import {
  claimOf,
  NIF,
  NOW,
  OTHER_NIF,
  REASON,
  type InvoiceText,
  type TestBatch,
} from '../../../contract/ledger/scenario.ts';
import { until } from '../../../support/until.ts';
import { asActivity, outcomesOf, RETRY, texts } from '../activity-place.ts';
import {
  breakerOf,
  created,
  FORBIDDEN,
  openCircuit,
  REFUSED,
  SAID,
  slicePlaces,
  UNAUTHORIZED,
  type SlicePlace,
} from './slice-place.ts';
import type { CreateAnswer, DeparturePermit } from '../../../../src/domain/records/service-answers.ts';

const sending = slicePlaces();
const SWAPPED = { code: 'profile-contradiction', message: 'The words are swapped.' };
const PUT_OFF: CreateAnswer = { kind: 'not-now', reason: REASON, retryAfterMs: 5_000 };
const PUT_OFF_LOST: CreateAnswer = { kind: 'lost', reason: REASON, retryAfterMs: 5_000 };
const REDIRECT: CreateAnswer = {
  ...{ kind: 'access-denied', retryAfterMs: null, mayExist: true },
  reason: { code: 'redirect', message: 'HTTP 303' },
};

describe('a slice of invoices', () => {
  it('goes on with further invoices while answers wait to be recorded', async () => {
    const concurrency = 16;
    const place = sending(() => created(), concurrency);
    const batch = await place.batch(3 * concurrency);
    const { ledger } = place.deps;
    const recordSends: typeof ledger.recordSends = async (items) => {
      // The first invoice of a process goes alone.
      await until(() => place.posts.length === 1 || place.posts.length > concurrency);
      return ledger.recordSends(items);
    };
    const deps = { ...place.deps, ledger: { ...ledger, recordSends } };

    expect(await place.slice(batch, { deps })).toMatchObject({ accepted: 3 * concurrency, left: 0 });
    expect(new Set(place.posts).size).toBe(place.posts.length);
  });

  it('is sent, each once, and every answer is written down; sent again it has nothing to do', async () => {
    const place = sending((ref) => (ref === 'R1' ? REFUSED : created()));
    const batch = await place.batch(3);

    expect(await place.slice(batch)).toEqual({ accepted: 2, left: 0, stop: false, triedMs: 0, waiting: null });
    expect(await place.slice(batch)).toEqual({ accepted: 0, left: 0, stop: false, triedMs: 0, waiting: null });
    expect(place.posts).toEqual(['R0', 'R1', 'R2']);
    expect(await batch.line('R1')).toMatchObject({ state: 'rejected', reason: SAID, attempts: 1 });
  });

  it('leaves an invoice whose merchant is not known, and sends the others', async () => {
    const place = sending(created);
    const batch = await place.scenario.run([{ ref: 'A', nif: OTHER_NIF }, { ref: 'B' }], 1_000);
    await place.deps.ledger.saveMerchants(place.scenario.application, [{ nif: NIF, merchantId: 'mrc_1' }]);

    expect((await place.slice(batch)).accepted).toBe(1);
    expect(place.posts).toEqual(['B']);
  });

  it('says for how long it could send, not for how long its process stood still or its clock was put back', async () => {
    async function triedMs(answerAfterMs: number): Promise<number | undefined> {
      const place: SlicePlace = sending(() => {
        place.later(answerAfterMs);
        return created();
      });
      return (await place.slice(await place.batch(1))).triedMs;
    }

    expect([await triedMs(1_500), await triedMs(3_600_000), await triedMs(-5_000)]).toEqual([1_500, 60_000, 0]);
  });

  it('has sent for no time at all where other workers had every permit, so that its page keeps its send time', async () => {
    const place: SlicePlace = sending(() => {
      place.later(60_000);
      return { kind: 'not-permitted' };
    });

    expect(await place.slice(await place.batch(2))).toMatchObject({ accepted: 0, left: 2, triedMs: 0 });
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

  it('does not send again what may exist when its window is over, also where the clock was set back meanwhile', async () => {
    const place = sending(() => ({ kind: 'lost', reason: REASON, retryAfterMs: null }));
    const batch = await place.batch(1);
    await place.slice(batch);
    const before = [...place.posts];
    const deps = { ...place.deps, latestNow: () => place.deps.now() + RETRY.retentionMs };

    await place.slice(batch, { deps });

    expect(place.posts).toEqual(before);
    const message =
      'Its first POST left more than 24 h ago, and the service may have forgotten its key: sent again, it could be issued twice. Ask the service, or accept the risk: lote retry BATCH --ref REFERENCE --accept-duplicate-risk --reason WHY.';
    const reason = { code: 'retention-window-over', message };
    expect(await batch.line('R0')).toMatchObject({ state: 'unknown', reason });
  });

  /** R0 is inside its window when the slice begins, and outside of it by the time it would leave; the circuit opens at one of the two moments. */
  async function outOfItsWindow(opens: 'before' | 'meanwhile', probeAfterMs: number) {
    const place: SlicePlace = sending(() => PUT_OFF_LOST, 1, {
      ledger: (real, bare) => ({
        async freeze(...what) {
          const frozen = await real.freeze(...what);
          if (place.posts.length === 0) return frozen;
          if (opens === 'meanwhile') await openCircuit(bare, probeAfterMs);
          place.later(60_000);
          return frozen;
        },
      }),
    });
    const batch = await place.batch(1);
    await place.slice(batch);
    place.later(86_400_000 - 30_000);
    if (opens === 'before') await openCircuit(place, probeAfterMs);

    expect(await place.slice(batch)).toMatchObject({ accepted: 0, left: 0 });

    expect(place.posts).toHaveLength(1);
    const { probingUntil, probeAfter = 0 } = (await breakerOf(place)) ?? {};
    return { probingUntil, probeAfterMs: probeAfter - place.deps.now() };
  }

  it('gives the turn of a probe back when its window is over before it could leave', async () => {
    expect(await outOfItsWindow('before', 0)).toMatchObject({ probingUntil: null });
  });

  it('leaves the time of the probe alone when the window of another invoice is over', async () => {
    expect(await outOfItsWindow('meanwhile', 3_600_000)).toMatchObject({ probeAfterMs: 3_600_000 - 60_000 });
  });

  it.each(['closed', 'half-open'])('sends those first that had the fewest tries (circuit: %s)', async (circuit) => {
    const turns: unknown[] = [];
    const place: SlicePlace = sending(async (_, nth) => {
      turns.push((await breakerOf(place))?.probingUntil);
      return nth === 1 ? PUT_OFF : created();
    });
    const batch = await place.batch(3);
    await place.slice(batch, { to: 1 });
    if (circuit === 'half-open') await openCircuit(place);

    expect(await place.slice(batch)).toMatchObject({ accepted: 3, left: 0 });

    expect(place.posts).toEqual(['R0', 'R1', 'R2', 'R0']);
    const ofProbe = circuit === 'half-open' ? NOW + 60_000 : undefined;
    expect(turns, 'its turn is held until it is answered').toEqual([undefined, ofProbe, undefined, undefined]);
  });

  /** Trouble with the invoices of one merchant, `X0` and so on, which come first; those of the other are created. */
  function troubleWithOneMerchant(): { readonly place: SlicePlace; readonly invoices: InvoiceText[] } {
    const lost: CreateAnswer = { kind: 'lost', reason: REASON, retryAfterMs: null };
    const place = sending((ref) => (ref.startsWith('X') ? lost : created()), 8);
    const ofOne = texts(30, 'X').map(({ ref }) => ({ ref, nif: OTHER_NIF }));
    return { place, invoices: [...ofOne, { ref: 'A' }, { ref: 'B' }, { ref: 'C' }] };
  }

  it('probes with another merchant’s invoice than those that opened the circuit, and sends the merchants in turn', async () => {
    const { place, invoices } = troubleWithOneMerchant();
    const batch = await place.batch(invoices);
    expect(await place.slice(batch)).toMatchObject({ accepted: 0, waiting: { reason: REASON.code } });
    const before = place.posts.length;
    place.later(5_000);

    expect(await place.slice(batch)).toMatchObject({ accepted: 3 });

    expect(place.posts[before]).toBe('A');
    expect(await outcomesOf(place, batch.batchId)).toMatchObject({ accepted: 3 });
  });

  it.each([
    [0, 'X28'],
    [0.9, 'A'],
  ])('draws the merchant of a probe by lot (%d)', async (drawn, ref) => {
    const { place, invoices } = troubleWithOneMerchant();
    const deps = { ...place.deps, random: () => drawn };
    const batch = await place.batch(invoices.slice(-5));
    await openCircuit(place);

    await place.slice(batch, { deps });

    expect(place.posts[0]).toBe(ref);
  });

  it('that has probed in vain leaves the next probe to others', async () => {
    const { place, invoices } = troubleWithOneMerchant();
    const batch = await place.batch(invoices.slice(0, 2));
    await openCircuit(place);

    expect(await place.slice(batch)).toMatchObject({ left: 2, waiting: { reason: REASON.code, probeAfterMs: 7_000 } });

    expect(place.posts).toHaveLength(1);
    expect(await breakerOf(place)).toMatchObject({ probeAfter: NOW + 5_000 });
  });

  it('gives the turn of the probe back when its worker stops before the probe could leave', async () => {
    const env = new MockActivityEnvironment();
    const place: SlicePlace = sending(created, 1, {
      ledger: (real) => ({
        freeze(...what) {
          env.cancel();
          return real.freeze(...what);
        },
      }),
    });
    const batch = await place.batch(1);
    await openCircuit(place);

    expect(await place.slice(batch, { env })).toMatchObject({ accepted: 0, left: 1 });

    expect(place.posts).toEqual([]);
    expect(await breakerOf(place)).toMatchObject({ probingUntil: null });
  });

  it('takes its permission along when it ends: nothing that it left behind may leave', async () => {
    const permits: (DeparturePermit | undefined)[] = [];
    const place = sending((_ref, _nth, limits) => {
      permits.push(limits?.permit);
      return created();
    });

    await place.slice(await place.batch(1));

    expect(permits.map((permit) => permit?.isValid())).toEqual([false]);
  });

  it('gives the turn of the probe back when it has nothing that can be sent', async () => {
    const place = sending(created);
    const batch = await place.scenario.run([{ ref: 'A', nif: '500000000' }], 1_000);
    await openCircuit(place);

    expect(await place.slice(batch)).toMatchObject({ accepted: 0 });

    expect(await breakerOf(place)).toMatchObject({ probingUntil: null });
  });

  it('behind an open circuit makes a page wait for nothing when nothing of it is left to send', async () => {
    const place = sending(created);
    const batch = await place.batch(1);
    await place.slice(batch);
    await openCircuit(place, 60_000);

    expect(await place.slice(batch)).toMatchObject({ left: 0, waiting: null });
  });

  it.each([
    ['behind an open circuit', (place: SlicePlace) => openCircuit(place, 60_000), 60_000],
    ['of a paused batch', (place: SlicePlace, batch: TestBatch) => pause(place, batch), null],
  ] as const)('%s is not handed out: nothing is frozen, and none gets a reason', async (_, stop, probeAfterMs) => {
    const place: SlicePlace = sending(created, 1, {
      ledger: () => ({ freeze: () => Promise.reject(new Error('nothing is to be frozen')) }),
    });
    const batch = await place.batch(2);
    await stop(place, batch);

    // A paused batch uses up no send time.
    const how =
      probeAfterMs === null ? { waiting: null } : { triedMs: 0, waiting: { reason: REASON.code, probeAfterMs } };
    expect(await place.slice(batch)).toEqual({ accepted: 0, left: 2, stop: false, ...how });

    expect(place.posts).toEqual([]);
    expect(await outcomesOf(place, batch.batchId)).toEqual({ staged: 2 });
    expect(await batch.line('R0')).toMatchObject({ reason: null, attempts: 0 });
  });

  it('is stopped by a pause: what is on its way is recorded, and the rest is put back with that reason', async () => {
    const place: SlicePlace = sending(async (_ref, _nth, limits) => {
      await pause(place, batch);
      if (limits?.permit?.withdrawn.aborted === false) await once(limits.permit.withdrawn, 'abort');
      return created();
    });
    const batch = await place.batch(3);

    expect(await place.slice(batch)).toMatchObject({ accepted: 1, left: 2, stop: false, waiting: null });

    expect(place.posts).toEqual(['R0']);
    expect(await batch.line('R1')).toMatchObject({
      ...{ state: 'staged', attempts: 0 },
      reason: { code: 'sending-stopped', message: expect.stringContaining('the batch was stopped') as string },
    });
  });

  it.each([
    ['another process has found', (place: SlicePlace) => place.elsewhere().stop(SWAPPED)],
    ['its own process has found', (place: SlicePlace) => place.deps.calibration.stop(SWAPPED)],
  ])(
    'is stopped when a contradiction of the profile is found that %s, and its page waits for a new start',
    async (_, find) => {
      const place: SlicePlace = sending(async (_ref, _nth, limits) => {
        await find(place);
        place.later(1_000);
        if (limits?.permit?.withdrawn.aborted === false) await within(2_000, once(limits.permit.withdrawn, 'abort'));
        return created();
      });
      const batch = await place.batch(3);

      const waiting = { reason: 'profile-contradiction' };
      expect(await place.slice(batch)).toMatchObject({ accepted: 1, left: 2, stop: false, waiting });
      expect(await place.slice(batch)).toEqual({
        ...{ accepted: 0, left: 2, stop: false },
        waiting: { ...waiting, probeAfterMs: 60_000 },
      });

      expect(place.posts).toEqual(['R0']);
      expect(await batch.line('R1')).toMatchObject({ state: 'staged', attempts: 0, reason: { code: waiting.reason } });
    },
  );

  it('leaves to the next round what another attempt froze at the same moment', async () => {
    const place = sending(created, 1, {
      ledger: (real) => ({
        async freeze(...frozen) {
          await real.freeze(...frozen);
          return real.freeze(...frozen);
        },
      }),
    });
    const batch = await place.batch(2);

    expect(await place.slice(batch)).toMatchObject({ accepted: 0, left: 2 });

    expect(place.posts).toEqual([]);
  });
});

/** Ends with the promise, or after so many milliseconds. */
function within(ms: number, promise: Promise<unknown>): Promise<unknown> {
  return Promise.race([promise, sleep(ms, undefined, { ref: false })]);
}

/** As an operator pauses a batch. */
async function pause({ deps }: SlicePlace, { batchId }: TestBatch): Promise<void> {
  const run = { batchId, workflowId: `workflow-of-${batchId}`, runId: 'run-1' };
  const written = await deps.ledger.recordControl({ ...run, version: 1, paused: true, cancelled: false });
  expect(written).toBe(true);
}

describe('a service that denies access', () => {
  it('is asked once: the rest of the slice stays here, as unsent as it was', async () => {
    const place = sending(() => UNAUTHORIZED);
    const batch = await place.batch(5);

    expect(await place.slice(batch)).toEqual({
      ...{ accepted: 0, left: 5, stop: false, triedMs: 0 },
      waiting: { reason: 'http-401', probeAfterMs: 5_000 },
    });
    expect(place.posts).toHaveLength(1);
    expect(await breakerOf(place)).toMatchObject({
      ...{ reason: { code: 'http-401' }, openedAt: NOW, probeAfter: NOW + 5_000 },
    });
  });

  it('by a redirect leaves the one that was redirected as one that may exist, and the others as unsent as they were', async () => {
    const place = sending(() => REDIRECT);
    const batch = await place.batch(4);

    expect(await place.slice(batch)).toMatchObject({ accepted: 0, left: 4, waiting: { reason: 'redirect' } });
    expect(place.posts).toEqual(['R0']);
    await asActivity(closePage, place.deps, {
      ...{ ledgerId: place.deps.ledger.id, ...claimOf(batch.batchId), page: 1, settleMs: 1_000 },
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

    const waiting = { reason: 'http-401', probeAfterMs: 5_000 };
    expect(behind).toEqual({ accepted: 0, left: 4, stop: false, triedMs: 0, waiting });
    expect(posts).toBe(1);
    expect(probed).toEqual({ accepted: 4, left: 0, stop: false, triedMs: 0, waiting: null });
    expect(await breakerOf(place)).toBeNull();
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
    const ofOne = texts(12, 'X').map(({ ref }) => ({ ref, nif: OTHER_NIF }));
    const batch = await place.batch([...ofOne, { ref: 'A' }, { ref: 'B' }]);

    expect(await place.slice(batch)).toMatchObject({ accepted: 2, waiting: null });
    expect(await place.slice(batch)).toEqual({ accepted: 0, left: 0, stop: false, triedMs: 0, waiting: null });

    expect(place.posts).toEqual(['X0', 'X1', 'X2', 'X3', 'X4', 'A', 'B']);
    expect(await outcomesOf(place, batch.batchId)).toEqual({ rejected: 5, held: 7, accepted: 2 });
    expect(await batch.line('X11')).toMatchObject({
      state: 'held',
      reason: {
        code: 'merchant-forbidden',
        message: expect.stringContaining('ask its support about the merchant') as string,
      },
    });
    expect(await breakerOf(place)).toBeNull();
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
    return { place, batch: await place.batch(20) };
  }

  it('are those invoices’ own trouble: the circuit stays closed, and they end with that reason', async () => {
    const { place, batch } = await sevenOfTwenty();

    const left: number[] = [];
    for (let round = 1; round <= 4; round += 1) left.push((await place.slice(batch)).left);

    expect(left).toEqual([7, 7, 7, 0]);
    expect(await breakerOf(place)).toBeNull();
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
    const batch = await place.batch(5);

    for (let round = 1; round <= 5; round += 1) await place.slice(batch);

    expect(await breakerOf(place)).toMatchObject({
      reason: { code: 'internal-error' },
    });
    expect(await outcomesOf(place, batch.batchId)).toEqual({ sending: 5 });
    expect(place.posts).toHaveLength(60);
  });

  it('are told by time behind an open circuit, by one invoice at a time, and close it again', async () => {
    const place = sending(() => STORED, 64);
    const batch = await place.batch(5);
    for (let round = 1; round <= 4; round += 1) await place.slice(batch);
    place.later(place.deps.settings.sendMs / 2);

    expect(await place.slice(batch)).toEqual({ accepted: 0, left: 0, stop: false, triedMs: 0, waiting: null });

    expect(place.posts).toHaveLength(65);
    expect(await outcomesOf(place, batch.batchId)).toEqual({ unknown: 5 });
    expect(await breakerOf(place)).toBeNull();
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
    const slice = (from: number, to: number) => place.slice(batch, { from, to });

    expect((await slice(1, 40)).stop).toBe(false);
    expect((await slice(41, 80)).stop).toBe(true);

    expect(place.posts).toHaveLength(56);
    expect(await outcomesOf(place, batch.batchId)).toEqual({ rejected: 56, held: 64 });
  });
});
