import { describe, expect, it } from 'vitest';
import { sendInvoice, type Sent } from '../../../activities/send-invoice.ts';
import { createStoredErrors, type StoredErrors } from '../../../activities/stored-errors.ts';
import type { CreateAnswer } from '../../../src/domain/ports/invoicing-service.ts';
import type { SendableInvoice } from '../../../src/domain/ports/ledger.ts';

const REASON = { code: 'said', message: 'HTTP 422: said' };
const REFUSED: CreateAnswer = { kind: 'refused', reason: REASON };
const LOST: CreateAnswer = { kind: 'lost', reason: { code: 'reset', message: 'no answer came' }, retryAfterMs: null };
const CREATED: CreateAnswer = { kind: 'created', serviceId: 'inv_1' };

function notNow(retryAfterMs: number | null = null): CreateAnswer {
  return { kind: 'not-now', reason: REASON, retryAfterMs };
}

interface Try {
  readonly sent: Sent;
  readonly keys: readonly string[];
  readonly pauses: readonly number[];
  /** What was told in which order: the slot given back, the door shut. */
  readonly told: readonly string[];
}

/** Sends one invoice to a service that gives these answers in turn. */
async function send(
  answers: readonly CreateAnswer[],
  over: { mayExist?: boolean; stopped?: boolean; turns?: number; seen?: StoredErrors; lives?: boolean } = {},
): Promise<Try> {
  const keys: string[] = [];
  const pauses: number[] = [];
  const told: string[] = [];
  let clock = 0;
  const sent = await sendInvoice(
    {
      service: {
        createInvoice(body, key) {
          keys.push(`${key} ${body}`);
          clock += 10;
          const answer = answers[keys.length - 1];
          if (answer === undefined) throw new Error('The test has no more answers');
          return Promise.resolve(answer);
        },
      },
      random: () => 0.5,
      now: () => clock,
      admit: () =>
        Promise.resolve(keys.length >= (over.turns ?? answers.length) ? null : () => void told.push('slot free')),
      shutOut: ({ code }, sentAt) => Promise.resolve(void told.push(`shut out by ${code} at ${sentAt}`)),
      pause(ms) {
        pauses.push(ms);
        clock += ms;
        return Promise.resolve();
      },
      stopped: () => over.stopped ?? false,
      storedErrors: over.seen ?? createStoredErrors(),
      serviceLives: () => Promise.resolve(over.lives ?? true),
    },
    { idempotencyKey: 'key', mayExist: over.mayExist ?? false } as SendableInvoice,
    'bytes',
  );
  return { sent, keys, pauses, told };
}

describe('sendInvoice', () => {
  it.each([
    ['created', [CREATED], { kind: 'accepted', serviceId: 'inv_1' }],
    ['refused', [REFUSED], { kind: 'rejected', reason: REASON }],
    ['refused after it was put off', [notNow(), REFUSED], { kind: 'rejected', reason: REASON }],
    ['refused after a lost answer', [LOST, REFUSED], { kind: 'unknown', reason: REASON }],
    ['created after a lost answer', [LOST, CREATED], { kind: 'accepted', serviceId: 'inv_1' }],
    ['known with other bytes', [{ kind: 'key-mismatch', reason: REASON }], { kind: 'unknown', reason: REASON }],
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

  it('does not knock again at a closed door, and does not take it for the invoice', async () => {
    const { sent, told } = await send([{ kind: 'closed-door', reason: REASON, retryAfterMs: null, mayExist: false }]);

    // The other way round, the next in the queue would be on the wire before the door is shut.
    expect(told).toEqual(['shut out by said at 0', 'slot free']);
    expect(sent).toMatchObject({ attempts: 1, outcome: { kind: 'pending', mayExist: false }, trouble: { shut: true } });
  });

  it('takes a closed door that proves nothing for a lost answer', async () => {
    const redirect: CreateAnswer = { kind: 'closed-door', reason: REASON, retryAfterMs: null, mayExist: true };

    expect((await send([redirect])).sent).toMatchObject({
      ...{ attempts: 1, trouble: { shut: true } },
      outcome: { kind: 'pending', mayExist: true },
    });
  });

  it('waits as long as it is told, and leaves a longer wait to the page', async () => {
    const short = await send([notNow(1_500), CREATED]);
    expect(short.pauses).toEqual([1_500]);

    const long = await send([notNow(2_001)]);
    expect(long.pauses).toEqual([]);
    expect(long.sent).toMatchObject({ attempts: 1, retryAfterMs: 2_001, outcome: { kind: 'pending' } });
  });

  it('backs off by itself, longer each time', async () => {
    expect((await send([LOST, LOST, CREATED])).pauses).toEqual([200, 400]);
  });

  it('lets others go first as soon as it is stopped', async () => {
    expect((await send([LOST], { stopped: true })).sent.attempts).toBe(1);
  });

  it('sends nothing when its turn does not come, and keeps what it knows when that happens between two tries', async () => {
    expect((await send([CREATED], { turns: 0 })).sent).toMatchObject({ attempts: 0, outcome: null, trouble: null });
    expect((await send([LOST, CREATED], { turns: 1 })).sent).toMatchObject({
      attempts: 1,
      outcome: { kind: 'pending', mayExist: true },
    });
  });

  it('tells when the first and the last request left, and when the answer came', async () => {
    expect((await send([LOST, CREATED])).sent).toMatchObject({ sentAt: 0, lastSentAt: 210, answeredAt: 220 });
  });

  it.each([
    ['is kept under its key by a service that lives', true, { kind: 'unknown', reason: { code: 'stored-error' } }],
    ['may be the outage of a service that answers nothing', false, { kind: 'pending', mayExist: true }],
  ] as const)('the same error a dozen times %s', async (_title, lives, outcome) => {
    const error: CreateAnswer = {
      kind: 'lost',
      reason: { code: 'http-503', message: 'HTTP 503: maintenance' },
      retryAfterMs: null,
    };
    const seen = createStoredErrors();
    let last: Sent | null = null;
    for (let round = 1; round <= 4; round += 1) ({ sent: last } = await send([error, error, error], { seen, lives }));

    expect(last?.outcome).toMatchObject(outcome);
  });
});
