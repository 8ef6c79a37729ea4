import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, it } from 'vitest';
import type { ActivityDeps } from '../../../../activities/deps.ts';
import { closePage } from '../../../../activities/settling/settle.ts';
import {
  accepted,
  claimOf,
  delivery,
  NIF,
  NOW,
  OTHER_NIF,
  REASON,
  recordDeliveries,
  serviceIdOf,
  type InvoiceText,
  type TestBatch,
} from '../../ledger/scenario.ts';
import { sendAgain } from '../../../../activities/batch/retry.ts';
import { asActivity, outcomesOf, sendFirst, texts, type ActivityPlace } from '../activity-place.ts';
import { until } from '../../../support/until.ts';
import { acceptances, events, rejections, SAID_FAILED } from './accepted-batch.ts';
import { breakerOf, created, FORBIDDEN, REFUSED, slicePlaces, UNAUTHORIZED, type SlicePlace } from './slice-place.ts';
import type { CreateAnswer } from '../../../../src/domain/records/service-answers.ts';

const sending = slicePlaces();
const LOST_FOR_LONG: CreateAnswer = { kind: 'lost', reason: REASON, retryAfterMs: 5_000 };

function putOff(retryAfterMs: number): CreateAnswer {
  return { kind: 'not-now', reason: REASON, retryAfterMs };
}

/** As a worker's page ends when the service let nobody in. */
async function closedPage({ deps }: ActivityPlace, { batchId }: TestBatch): Promise<void> {
  await asActivity(closePage, deps, {
    ...{ ledgerId: deps.ledger.id, ...claimOf(batchId), page: 1, settleMs: 1_000 },
    ...{ ending: 'outage', waitedFor: 'http-401' },
  });
}

/** By then the first invoice is on its way, also on a busy machine. */
const UNTIL_FIRST_IS_SENT_MS = 5_000;

describe('a slice whose time is over', () => {
  it('says of what it left that it was not sent yet, and not that the batch was stopped', async () => {
    const place = sending(async (_ref, _nth, limits) => {
      await until(() => limits?.permit?.withdrawn.aborted === true);
      return created();
    });
    const { deps } = place;
    const permission: ActivityDeps['permission'] = {
      request: (wanted) => deps.permission.request({ ...wanted, lastsMs: UNTIL_FIRST_IS_SENT_MS }),
    };
    const batch = await place.batch(2);

    expect(await place.slice(batch, { deps: { ...deps, permission } })).toMatchObject({ accepted: 1, left: 1 });

    expect(await batch.line('R1')).toMatchObject({ state: 'staged', reason: { code: 'not-sent-yet' } });
  });
});

describe('a slice whose worker stops', () => {
  it('sends nothing that still waits for its turn, and leaves it to another worker', async () => {
    const env = new MockActivityEnvironment();
    const place = sending((ref, _nth, limits) => {
      if (ref === 'R0') return created();
      env.cancel('WORKER_SHUTDOWN');
      // As of a POST that waits while other workers have every permit.
      expect(limits?.permit?.withdrawn.aborted).toBe(true);
      return { kind: 'not-permitted' };
    });
    const batch = await place.batch(3);

    expect(await place.slice(batch, { env })).toMatchObject({ accepted: 1, left: 2, stop: false, waiting: null });

    expect(place.posts).toEqual(['R0', 'R1']);
    expect(await batch.line('R1')).toMatchObject({ state: 'staged', reason: { code: 'not-sent-yet' } });
  });

  it('hands nothing out when it begins after that', async () => {
    const env = new MockActivityEnvironment();
    const place = sending(created);
    const batch = await place.batch(1);
    env.cancel('WORKER_SHUTDOWN');

    expect(await place.slice(batch, { env })).toMatchObject({ accepted: 0, left: 1, stop: false, waiting: null });
    expect(await batch.line('R0')).toMatchObject({ state: 'staged', attempts: 0, reason: null });
  });
});

describe('a slice that waits', () => {
  it('between two POSTs of an invoice waits as long as the service asked', async () => {
    const times: number[] = [];
    const place = sending(() => {
      times.push(performance.now());
      return times.length === 1 ? putOff(300) : created();
    });

    await place.slice(await place.batch(1));

    // Timers may ring a little early.
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(290);
  });

  const ANSWERS: readonly (readonly [string, readonly CreateAnswer[], object])[] = [
    [
      'the longest that was asked for',
      [putOff(10_000), putOff(30_000), putOff(20_000)],
      { left: 3, waiting: { reason: 'retry-after', probeAfterMs: 30_000 } },
    ],
    ['nothing when the service asked for less than a second', [putOff(1)], { left: 1, waiting: null }],
    [
      'a second that the service asked for',
      [{ ...FORBIDDEN, retryAfterMs: 1_000 }, created(), putOff(1)],
      { accepted: 1, left: 1, waiting: { reason: 'retry-after', probeAfterMs: 1_000 } },
    ],
    [
      'nothing when nothing is left, though the service asked one for patience',
      [{ ...FORBIDDEN, retryAfterMs: 30_000 }, created()],
      { accepted: 1, left: 0, waiting: null },
    ],
  ];

  it.each(ANSWERS)('makes its page wait for %s', async (_, answers, result) => {
    const place = sending((_ref, nth) => answers[nth - 1] ?? putOff(1));

    expect(await place.slice(await place.batch(answers.length))).toMatchObject(result);
  });

  it('behind an open circuit waits for the probe, or for longer when the service asked for that', async () => {
    const asked = async (retryAfterMs: number | null) => {
      const place = sending(() => ({ ...UNAUTHORIZED, retryAfterMs }));
      return (await place.slice(await place.batch(1))).waiting?.probeAfterMs;
    };

    expect([await asked(null), await asked(90_000), await asked(2_000)]).toEqual([5_000, 90_000, 5_000]);
  });

  it.each<readonly [string, number, (place: SlicePlace) => unknown]>([
    ['the rest of the time until the probe', 2_000, (place) => place.later(3_000)],
    ['at least a second', 1_000, (place) => place.later(4_500)],
    [
      'a second when another worker has closed the circuit meanwhile',
      1_000,
      ({ deps }) => deps.ledger.closeBreaker(deps.service.baseUrl),
    ],
  ])('waits for %s', async (_, probeAfterMs, meanwhile) => {
    const place: SlicePlace = sending(() => UNAUTHORIZED, 1, {
      ledger: (real) => ({
        async recordSends(sends) {
          await meanwhile(place);
          return real.recordSends(sends);
        },
      }),
    });

    expect((await place.slice(await place.batch(1))).waiting).toEqual({ reason: 'http-401', probeAfterMs });
  });
});

describe('a slice that has to stop', () => {
  it('starts nothing new after its minute, and puts the rest back unsent', async () => {
    const place: SlicePlace = sending(() => {
      place.later(30_000);
      return created();
    });
    const batch = await place.batch(5);

    // The third one leaves in the last millisecond.
    expect(await place.slice(batch)).toMatchObject({ accepted: 3, left: 2, stop: false, waiting: null });

    expect(place.posts).toEqual(['R0', 'R1', 'R2']);
    expect(await batch.line('R4')).toMatchObject({
      ...{ state: 'staged', attempts: 0 },
      reason: { code: 'not-sent-yet', message: expect.stringContaining('other invoices went first') as string },
    });
  });

  it('sends nothing more of those that wait for their turn while the first answer opens the circuit', async () => {
    const place = sending((_, nth) => (nth === 1 ? UNAUTHORIZED : created()), 4);
    const batch = await place.batch(6);

    expect(await place.slice(batch)).toMatchObject({ accepted: 0, left: 6, waiting: { reason: 'http-401' } });
    expect(place.posts).toHaveLength(1);

    // Their turns are free again.
    place.later(5_000);
    expect(await place.slice(batch)).toMatchObject({ accepted: 6, left: 0 });
  });

  it.each([
    ['when the first answers come whole and none can be read', 7, 'answer-without-id', 'answers-unreadable', 5],
    ['after twenty answers in a row that are none', 30, REASON.code, REASON.code, 20],
  ])('stops %s', async (_, invoices, code, reason, posts) => {
    const isProved = code === reason;
    const said = { code, message: 'HTTP 201: no id' };
    const place = sending(() => ({ kind: 'lost', retryAfterMs: 5_000, reason: said }), 1, { isProved });

    expect(await place.slice(await place.batch(invoices))).toMatchObject({ left: invoices, waiting: { reason } });
    expect(place.posts).toHaveLength(posts);
  });

  it('stops when failures that are confirmed meanwhile spend the budget, and holds the rest', async () => {
    const place: SlicePlace = sending(() => {
      place.later(1_000);
      return created();
    });
    place.deps.service.getInvoice = () => Promise.resolve(SAID_FAILED);
    const batch = await place.batch(64);
    await sendFirst(place, batch, acceptances(place, 60));
    await events(place, 'failed', 0, 60);

    expect(await place.slice(batch)).toMatchObject({ accepted: 1, left: 3, stop: true });

    expect(place.posts).toEqual(['R60']);
    expect(await outcomesOf(place, batch.batchId)).toEqual({ failed: 60, accepted: 1, held: 3 });
  });
});

describe('the answers of a slice', () => {
  it('wait for each other, and the last one for nothing', async () => {
    const concurrency = 16;
    const lasts: unknown[] = [];
    let answered = 0;
    const place: SlicePlace = sending(
      async (ref) => {
        // One after the other.
        await until(() => answered === Number(ref.slice(1)));
        return created();
      },
      concurrency,
      {
        ledger: ({ recordSends }) => ({
          async recordSends(items, isLast) {
            lasts.push(isLast);
            answered += 1;
            return recordSends(items, isLast);
          },
        }),
      },
    );

    expect(await place.slice(await place.batch(4))).toMatchObject({ accepted: 4 });

    // The first invoice of a process goes alone.
    expect(lasts).toEqual([true, false, false, true]);
  });
});

describe('invoices that a slice was handed and did not POST', () => {
  it.each([
    ['are held at the end of the page when each earlier POST was put off', putOff(5_000), 'http-401', 'held'],
    ['stay what may exist when an earlier answer was lost', LOST_FOR_LONG, REASON.code, 'unknown'],
  ])('%s', async (_, earlier, code, state) => {
    // R0 is answered in a way that opens the circuit; R1 was answered so in an earlier slice.
    const place = sending((ref) => (ref === 'R1' ? earlier : UNAUTHORIZED));
    const batch = await place.batch(2);
    await place.slice(batch, { from: 2, to: 2 });
    expect(await place.slice(batch)).toMatchObject({ accepted: 0, left: 2, waiting: { reason: 'http-401' } });
    expect(place.posts).toEqual(['R1', 'R0']);

    expect(await batch.line('R1')).toMatchObject({ state: 'sending', attempts: 1, reason: { code } });
    await closedPage(place, batch);
    expect((await batch.line('R1')).state).toBe(state);
  });

  it('stay what may exist when another worker was handed them meanwhile: its POST may be on its way', async () => {
    const place: SlicePlace = sending(async () => {
      await place.deps.ledger.sendable(batch.batchId, 2, 2);
      return UNAUTHORIZED;
    });
    const batch = await place.batch(2);

    expect(await place.slice(batch)).toMatchObject({ left: 2 });

    await closedPage(place, batch);
    expect(await outcomesOf(place, batch.batchId)).toEqual({ held: 1, unknown: 1 });
    expect((await batch.line('R1')).state).toBe('unknown');
  });
});

describe('a 403', () => {
  const OTHERS = (count: number) => texts(count, 'X').map(({ ref }) => ({ ref, nif: OTHER_NIF }));
  const BY_TURN = [created(), FORBIDDEN, UNAUTHORIZED];

  it.each<
    readonly [
      string,
      number | readonly InvoiceText[],
      (ref: string, nth: number) => CreateAnswer,
      object,
      Record<string, number>,
    ]
  >([
    [
      'among refusals is not taken for one invoice’s own: no success shows that the key is good',
      2,
      (ref) => (ref === 'R0' ? FORBIDDEN : REFUSED),
      { accepted: 0, left: 1, waiting: { reason: 'http-403' } },
      { sending: 1, rejected: 1 },
    ],
    [
      'is one invoice’s own as long as others succeed between, however many there are',
      12,
      (_, nth) => (nth % 2 === 1 ? FORBIDDEN : created()),
      { accepted: 6, left: 0, waiting: null },
      { accepted: 6, rejected: 6 },
    ],
    [
      'to every invoice of a small slice opens the circuit at its end',
      2,
      () => FORBIDDEN,
      { left: 2, waiting: { reason: 'http-403', probeAfterMs: 5_000 } },
      { sending: 2 },
    ],
    [
      // Nobody knows the id of the last one's merchant.
      'after a success is the key’s where the others that could be asked cannot be sent, and nothing is refused',
      [...texts(8), { ref: 'A', nif: '500000000' }],
      (_, nth) => (nth === 1 ? created() : FORBIDDEN),
      { accepted: 1, left: 7, waiting: { reason: 'http-403' } },
      { accepted: 1, sending: 5, staged: 3 },
    ],
    [
      'after a success refuses nothing when the circuit has opened since: the cause is unknown',
      4,
      (_, nth) => BY_TURN[nth - 1] ?? REFUSED,
      { accepted: 1, left: 3, waiting: { reason: 'http-401' } },
      { accepted: 1, sending: 2, staged: 1 },
    ],
    [
      'to a merchant five times holds nothing of it when the circuit has opened since',
      [...OTHERS(7), { ref: 'A' }],
      (ref) => (ref.startsWith('X') ? FORBIDDEN : UNAUTHORIZED),
      { accepted: 0, left: 8, waiting: { reason: 'http-401' } },
      { sending: 6, staged: 2 },
    ],
  ])('%s', async (_, invoices, answer, result, outcomes) => {
    const place = sending(answer);
    const batch = await place.batch(invoices);

    const slice = await place.slice(batch);

    expect(slice).toMatchObject(result);
    expect(await outcomesOf(place, batch.batchId)).toEqual(outcomes);
    const opened = (await breakerOf(place))?.reason;
    expect(opened?.code).toBe(slice.waiting?.reason);
    expect(opened?.message ?? '').toContain(slice.waiting?.reason.replace('http-', '') ?? '');
  });

  it('to an invoice that may exist makes it unknown, for it says nothing of the POST before', async () => {
    const place = sending((ref, nth) => (ref === 'R1' ? created() : nth === 1 ? LOST_FOR_LONG : FORBIDDEN));
    const batch = await place.batch(2);
    await place.slice(batch, { to: 1 });
    await place.deps.ledger.closeBreaker(place.deps.service.baseUrl);

    await place.slice(batch, { deps: place.deps });

    expect(await batch.line('R0')).toMatchObject({ state: 'unknown', reason: { code: 'http-403' } });
  });

  it('that refuses an invoice by itself says so, and counts for the failure budget', async () => {
    const place = sending((ref) => (ref === 'R60' ? FORBIDDEN : created()));
    const batch = await place.batch(64);
    await sendFirst(place, batch, rejections(60));

    expect(await place.slice(batch)).toMatchObject({ accepted: 3, left: 0, stop: true });

    expect((await batch.line('R60')).reason).toEqual({
      code: 'http-403',
      message: 'The service answered 403 Forbidden.',
    });
  });
});

describe('an earlier attempt of a slice that decides late about a 403', () => {
  it('does not reject what a later attempt has on the wire', async () => {
    const waiting = new Map<string, (answer: CreateAnswer) => void>();
    const place: SlicePlace = sending((ref) => {
      if (ref.startsWith('W')) return created();
      const nth = place.posts.filter((posted) => posted === ref).length;
      // Its merchant is let in between the two attempts.
      if (ref === 'R0' && nth === 1) return FORBIDDEN;
      return new Promise((resolve) => waiting.set(`${ref}-${nth}`, resolve));
    }, 4);
    await place.slice(await place.batch([{ ref: 'W0' }, { ref: 'W1' }, { ref: 'W2' }]));
    const batch = await place.batch([
      { ref: 'R0', nif: NIF },
      { ref: 'R1', nif: OTHER_NIF },
    ]);
    const serviceId = serviceIdOf(place.scenario, 'R0');

    const first = place.slice(batch);
    await until(() => waiting.has('R1-1'));
    await until(async () => (await batch.line('R0')).reason?.code === FORBIDDEN.reason.code);
    const second = place.slice(batch);
    await until(() => waiting.has('R0-2'));
    waiting.get('R1-1')?.(created());
    await first;

    expect((await batch.line('R0')).state).toBe('sending');
    waiting.get('R1-2')?.(created());
    waiting.get('R0-2')?.({ kind: 'created', serviceId });
    await second;
    expect(await batch.line('R0')).toMatchObject({ state: 'accepted', serviceId });
  });
});

describe('an invoice in a later generation', () => {
  it('does not leave once its earlier document is issued, though it was handed out before', async () => {
    const left: string[] = [];
    let answerOther = (): void => undefined;
    const isAnswered = new Promise<void>((resolve) => (answerOther = resolve));
    const place = sending(async (ref, _nth, limits) => {
      // As the client asks in the moment before the first byte.
      if (limits?.permit?.isValid() === false && !(await limits.permit.confirm())) return { kind: 'not-permitted' };
      left.push(ref);
      await isAnswered;
      return created();
    });
    const batch = await place.batch([{ ref: 'other' }, { ref: 'again' }]);
    const { ledger } = place.deps;
    const serviceId = serviceIdOf(place.scenario, 'again');
    const { invoiceId } = await batch.one('again');
    await batch.send('again', accepted(serviceId));
    await ledger.recordStatus([{ invoiceId, serviceId, status: 'failed', reason: REASON, now: NOW }]);
    await sendAgain(place.deps, {
      ...{ ledgerId: ledger.id, batchId: batch.batchId, actionId: `${batch.batchId}/round-1` },
      ...{ requests: [{ states: ['failed'], reason: 'the engine is back' }], automatic: false },
    });

    const slice = place.slice(batch);
    await until(() => left.includes('other'));
    await recordDeliveries(ledger, [delivery(serviceId, 'issued')]);
    answerOther();
    await slice;

    expect(left).toEqual(['other']);
    expect(await batch.line('again')).toMatchObject({ state: 'issued', serviceId });
  });
});
