import { describe, expect, it } from 'vitest';
import { sendInvoice, type SendDeps, type Sent } from '../../../../activities/sending/send-invoice.ts';
import type { ActivityDeps } from '../../../../activities/deps.ts';
import { RetentionWindow } from '../../../../activities/sending/retention-window.ts';
import { StoredErrors } from '../../../../activities/sending/stored-errors.ts';
import { RETRY } from '../activity-place.ts';
import type { CreateAnswer, DeparturePermit } from '../../../../src/domain/records/service-answers.ts';
import type { SendableInvoice } from '../../../../src/ledger/sending/sending.ts';

const SPAN_MS = 60_000;
const REASON = { code: 'said', message: 'HTTP 422: said' };
const REFUSED: CreateAnswer = { kind: 'refused', reason: REASON };
const LOST = { kind: 'lost', reason: { code: 'reset', message: 'no answer came' }, retryAfterMs: null } as const;
const CREATED: CreateAnswer = { kind: 'created', serviceId: 'inv_1' };

const ERROR: CreateAnswer = { ...LOST, reason: { code: 'http-503', message: 'HTTP 503: maintenance' } };

function notNow(retryAfterMs: number | null = null): CreateAnswer {
  return { kind: 'not-now', reason: REASON, retryAfterMs };
}

const PERMITTED: DeparturePermit = {
  ...{ withdrawn: new AbortController().signal, isValid: () => true },
  confirm: () => Promise.resolve(true),
};

interface Try {
  readonly sent: Sent;
  readonly keys: readonly string[];
  readonly pauses: readonly number[];
  /** Denied accesses that were judged. */
  readonly notified: readonly string[];
}

/** Sends one invoice to a service that gives these answers in turn. */
async function send(
  answers: readonly CreateAnswer[],
  over: {
    mayExist?: boolean;
    mayExistSince?: number;
    retentionMs?: number;
    stopped?: boolean;
    turns?: number;
    seen?: StoredErrors;
    generations?: boolean;
    errorKept?: true;
    /** POSTs of earlier slices. */
    attempts?: number;
    /** How long each POST waits in the client for its turn, in milliseconds. */
    queuedMs?: number;
    /** The process stands still before the first byte; by the timer nobody would be told. */
    stopsInClient?: boolean;
    /** The clock when it begins. */
    at?: number;
  } = {},
): Promise<Try> {
  const keys: string[] = [];
  const pauses: number[] = [];
  const notified: string[] = [];
  let clock = over.at ?? 0;
  const window = new RetentionWindow({
    settings: { retry: { ...RETRY, retentionMs: over.retentionMs ?? RETRY.retentionMs } } as ActivityDeps['settings'],
    latestNow: () => clock,
    ...{ application: 'default' },
  });
  const sent = await sendInvoice(
    {
      ...({} as Pick<SendDeps, 'calibration' | 'ledger' | 'log'>),
      service: {
        createInvoice(body, key, limits) {
          if (over.stopsInClient === true) {
            clock += 60_000;
            if (limits?.permit?.isValid() === false) return Promise.resolve({ kind: 'not-permitted' });
          }
          clock += over.queuedMs ?? 0;
          limits?.permit?.isValid();
          keys.push(`${key} ${body}`);
          clock += 10;
          const answer = answers[keys.length - 1];
          if (answer === undefined) throw new Error('The test has no more answers');
          return Promise.resolve(answer);
        },
      } as SendDeps['service'],
      random: () => 0.5,
      now: () => clock,
      mayLeave: () => keys.length < (over.turns ?? answers.length),
      async answered(answer, { sentAt }) {
        if (answer.kind === 'access-denied') notified.push(`access denied by ${answer.reason.code} at ${sentAt}`);
      },
      pause(ms) {
        pauses.push(ms);
        clock += ms;
        return Promise.resolve();
      },
      stopped: () => over.stopped ?? false,
      window,
      permitOf: () => PERMITTED,
      storedErrors: over.seen ?? new StoredErrors({ spanMs: SPAN_MS }),
      serviceAnswers: () => Promise.resolve(over.generations ?? true),
    },
    {
      idempotencyKey: 'key',
      attempts: over.attempts ?? 0,
      mayExist: over.mayExist ?? over.mayExistSince !== undefined,
      mayExistSince: over.mayExistSince ?? (over.mayExist === true ? 0 : null),
      errorKept: over.errorKept ?? false,
      earlier: null,
    } as SendableInvoice,
    'bytes',
  );
  return { sent, keys, pauses, notified };
}

describe('sendInvoice', () => {
  it.each([
    ['created', [CREATED], { kind: 'accepted', serviceId: 'inv_1' }],
    ['refused', [REFUSED], { kind: 'rejected', reason: REASON }],
    ['refused after it was put off', [notNow(), REFUSED], { kind: 'rejected', reason: REASON }],
    [
      'refused after a lost answer',
      [LOST, REFUSED],
      {
        kind: 'unknown',
        reason: { code: 'refused-after-lost-answer', message: expect.stringContaining(REASON.message) as string },
      },
    ],
    ['created after a lost answer', [LOST, CREATED], { kind: 'accepted', serviceId: 'inv_1' }],
    ['known with other bytes', [{ kind: 'key-mismatch', reason: REASON }], { kind: 'unknown', reason: REASON }],
    ['answered in the same way again', [{ ...LOST, isSameAgain: true }], { kind: 'unknown', reason: LOST.reason }],
    ['put off three times', [notNow(), notNow(), notNow()], { kind: 'pending', reason: REASON, mayExist: false }],
    ['lost, then put off', [LOST, notNow(), notNow()], { kind: 'pending', reason: REASON, mayExist: true }],
  ] as const)('%s', async (_title, answers, outcome) => {
    const { sent, keys } = await send(answers);

    expect(sent.outcome).toEqual(outcome);
    expect(sent.attempts).toBe(answers.length);
    expect(new Set(keys)).toEqual(new Set(['key bytes']));
  });

  it('calls a refusal unknown when an earlier answer of this generation was lost', async () => {
    expect((await send([REFUSED], { mayExist: true })).sent.outcome).toMatchObject({ kind: 'unknown' });
  });

  it('does not knock again when access is denied, and does not take it for the invoice', async () => {
    const { sent, notified, pauses } = await send([
      { kind: 'access-denied', reason: REASON, retryAfterMs: null, mayExist: false },
    ]);

    expect(notified).toEqual(['access denied by said at 0']);
    expect(pauses).toEqual([]);
    expect(sent).toMatchObject({
      attempts: 1,
      outcome: { kind: 'pending', mayExist: false },
      trouble: { accessDenied: true },
    });
  });

  it('takes a denied access that proves nothing for a lost answer', async () => {
    const redirect: CreateAnswer = { kind: 'access-denied', reason: REASON, retryAfterMs: null, mayExist: true };

    expect((await send([redirect])).sent).toMatchObject({
      ...{ attempts: 1, trouble: { accessDenied: true } },
      outcome: { kind: 'pending', mayExist: true },
    });
  });

  it('waits as long as it is told, and leaves a longer wait to the page', async () => {
    const short = await send([notNow(1_500), CREATED]);
    expect(short.pauses).toEqual([1_500]);
    expect((await send([notNow(2_000), CREATED])).pauses).toEqual([2_000]);

    const long = await send([notNow(2_001)]);
    expect(long.pauses).toEqual([]);
    expect(long.sent).toMatchObject({ attempts: 1, retryAfterMs: 2_001, outcome: { kind: 'pending' } });
  });

  it('waits as long as it is told for its own key, and asks the page for no wait', async () => {
    const inFlight = (retryAfterMs: number): CreateAnswer => ({ ...LOST, retryAfterMs, isDelayOfKey: true });
    expect((await send([inFlight(1_500), CREATED])).pauses).toEqual([1_500]);

    const long = await send([inFlight(30_000)]);
    expect(long.pauses).toEqual([]);
    expect(long.sent).toMatchObject({
      ...{ attempts: 1, retryAfterMs: null },
      outcome: { kind: 'pending' },
    });
  });

  it('counts a POST from the moment it leaves, not from when it began to wait for its turn', async () => {
    const { sent } = await send([notNow(0), CREATED], { queuedMs: 30_000 });

    expect(sent).toMatchObject({ sentAt: 30_000, lastSentAt: 60_010, answeredAt: 60_020 });
  });

  it('backs off by itself, longer each time', async () => {
    expect((await send([LOST, LOST, CREATED])).pauses).toEqual([200, 400]);
  });

  it('leaves the fourth POST to another slice', async () => {
    const { sent, pauses } = await send([notNow(), LOST, notNow(), CREATED]);

    expect(sent).toMatchObject({ attempts: 3, outcome: { kind: 'pending', mayExist: true } });
    expect(pauses).toHaveLength(2);
  });

  it.each<readonly [string, CreateAnswer, Sent['trouble']]>([
    ['created', CREATED, null],
    ['refused', REFUSED, null],
    ['known with other bytes', { kind: 'key-mismatch', reason: REASON }, null],
    ['put off', notNow(), { accessDenied: false, reason: REASON, own: false }],
    ['lost', LOST, { accessDenied: false, reason: { code: 'reset', message: 'no answer came' }, own: false }],
  ])('says whether an answer is trouble of the service: %s', async (_name, answer, trouble) => {
    expect((await send([answer], { stopped: true })).sent.trouble).toEqual(trouble);
  });

  it('lets others go first as soon as it is stopped', async () => {
    expect((await send([LOST], { stopped: true })).sent.attempts).toBe(1);
  });

  it('sends nothing when its turn does not come, and keeps what it knows when that happens between two tries', async () => {
    expect((await send([CREATED], { turns: 0 })).sent).toMatchObject({
      ...{ attempts: 0, outcome: null, trouble: null },
    });
    expect((await send([LOST, CREATED], { turns: 1 })).sent).toMatchObject({
      attempts: 1,
      outcome: { kind: 'pending', mayExist: true },
    });
  });

  it('tells when the first and the last request left, and when the answer came', async () => {
    expect((await send([LOST, CREATED])).sent).toMatchObject({ sentAt: 0, lastSentAt: 210, answeredAt: 220 });
  });

  it.each([
    [
      'is kept under its key by a service that lives',
      true,
      false,
      { kind: 'unknown', reason: { code: 'stored-error' } },
    ],
    ['is so behind an open circuit too', true, true, { kind: 'unknown', reason: { code: 'stored-error' } }],
    ['may be the outage of a service that answers nothing', false, false, { kind: 'pending', mayExist: true }],
  ] as const)('the same error for longer than an outage lasts %s', async (_title, generations, stopped, outcome) => {
    const seen = new StoredErrors({ spanMs: SPAN_MS });
    let last: Sent | null = null;
    for (let round = 0; round < 12 && last?.outcome?.kind !== 'unknown'; round += 1) {
      const answers = stopped ? [ERROR] : [ERROR, ERROR, ERROR];
      ({ sent: last } = await send(answers, { seen, generations, stopped, at: round * 6_000 }));
    }

    expect(last?.outcome).toMatchObject(outcome);
  });

  it('the same error once more, of a key under which the service kept one, ends its tries at once', async () => {
    const { sent } = await send([ERROR, ERROR], { mayExist: true, errorKept: true });

    expect(sent).toMatchObject({ attempts: 1, outcome: { kind: 'unknown', reason: { code: 'stored-error' } } });
    expect(sent.outcome).toHaveProperty('reason.message', expect.stringContaining('(HTTP 503: maintenance)'));
    expect((await send([LOST, CREATED], { mayExist: true, errorKept: true })).sent.outcome).toEqual({
      ...{ kind: 'accepted', serviceId: 'inv_1' },
    });
  });

  it('the same error to every key for a few seconds is an outage, though GET works', async () => {
    const seen = new StoredErrors({ spanMs: SPAN_MS });
    let last: Sent | null = null;
    for (let round = 0; round < 9; round += 1) {
      ({ sent: last } = await send([ERROR, ERROR, ERROR], { seen, at: round * 6_000 }));
    }

    expect(last).toMatchObject({ outcome: { kind: 'pending', mayExist: true }, trouble: { own: false } });
  });

  it('starts counting anew when the service turns out to be away', async () => {
    const seen = new StoredErrors({ spanMs: SPAN_MS });
    for (let round = 0; round < 4; round += 1)
      await send([ERROR, ERROR, ERROR], { seen, at: round * 30_000, generations: false });

    expect((await send([ERROR, ERROR, ERROR], { seen, at: 100_000 })).sent.outcome).toMatchObject({ kind: 'pending' });
  });

  it('says of an error whether it is the key’s own', async () => {
    const seen = new StoredErrors({ spanMs: SPAN_MS });
    const first = await send([ERROR], { seen, stopped: true });
    for (const key of ['a', 'b']) {
      seen.note({ key, place: seen.leave(), sentAt: 0, answeredAt: 0 }, CREATED);
    }

    expect(first.sent.trouble).toMatchObject({ own: false });
    expect((await send([ERROR], { seen, stopped: true })).sent.trouble).toMatchObject({
      accessDenied: false,
      own: true,
    });
  });
});

describe('an invoice that may exist', () => {
  it.each([
    ['however long it waited for its turn', { mayExistSince: 1_000, at: 6_000, retentionMs: 5_000 }],
    [
      'also where it ended while the process stood still in the client',
      { mayExistSince: 0, at: 999, retentionMs: 1_000, stopsInClient: true },
    ],
  ])('is not sent once its key may be forgotten, %s', async (_, over) => {
    const { sent, keys } = await send([CREATED], over);

    expect(keys).toEqual([]);
    expect(sent).toMatchObject({
      ...{ attempts: 0, trouble: null },
      outcome: { kind: 'unknown', reason: { code: 'retention-window-over' } },
    });
  });

  it('is sent up to that moment', async () => {
    const { sent } = await send([CREATED], { mayExistSince: 1_000, at: 5_999, retentionMs: 5_000 });

    expect(sent.outcome).toEqual({ kind: 'accepted', serviceId: 'inv_1' });
  });

  it('is not sent a second time when the window ends between two tries', async () => {
    const { sent, keys } = await send([LOST, CREATED], { mayExistSince: 0, at: 4_900, retentionMs: 5_000 });

    expect(keys).toHaveLength(1);
    expect(sent).toMatchObject({ attempts: 1, outcome: { reason: { code: 'retention-window-over' } } });
  });

  it('has its window from the POST whose answer was lost', async () => {
    const short = await send([notNow(1_500), LOST, CREATED], { retentionMs: 300 });
    const enough = await send([notNow(1_500), LOST, CREATED], { retentionMs: 1_000 });

    expect(short.sent).toMatchObject({ attempts: 2, outcome: { reason: { code: 'retention-window-over' } } });
    expect(enough.sent.outcome).toEqual({ kind: 'accepted', serviceId: 'inv_1' });
  });

  it('is not the only one that waits: what is proved never to have arrived is sent at any time', async () => {
    const { sent } = await send([notNow(1_500), notNow(1_500), CREATED], { retentionMs: 10 });

    expect(sent.outcome).toEqual({ kind: 'accepted', serviceId: 'inv_1' });
  });
});
