import { describe, expect, it } from 'vitest';
import { createFirstAnswers } from '../../../../activities/sending/first-answers.ts';
import type { CreateAnswer } from '../../../../src/domain/ports/invoicing-service.ts';

const MOST = 64;
const CREATED: CreateAnswer = { kind: 'created', serviceId: 'inv_1' };
const REFUSED: CreateAnswer = { kind: 'refused', reason: { code: 'bad-nif', message: 'No' } };
const MISMATCH: CreateAnswer = { kind: 'key-mismatch', reason: { code: 'key-known-with-other-bytes', message: '' } };
const NOT_NOW: CreateAnswer = { kind: 'not-now', reason: { code: 'http-429', message: '' }, retryAfterMs: null };

function lost(code: string): CreateAnswer {
  return { kind: 'lost', reason: { code, message: 'HTTP 201: no id at /id' }, retryAfterMs: null };
}

/** How many POSTs at once were allowed last, and what the answers led to. */
function judge(...answers: readonly CreateAnswer[]): { readonly atOnce: number; readonly reasons: readonly unknown[] } {
  let atOnce = MOST;
  const first = createFirstAnswers({ resize: (permits) => void (atOnce = permits) }, MOST);
  const reasons = answers.map((answer, at) => first.note(answer, `key ${at}`)?.code ?? null);
  return { atOnce, reasons };
}

describe('the first answers of a service', () => {
  it('come one after the other', () => {
    expect(judge().atOnce).toBe(1);
  });

  it.each([
    ['refused', REFUSED],
    ['an outage', lost('connection-reset')],
    ['not now', NOT_NOW],
    ['an error that the service itself calls so', lost('service-answer-without-id')],
    ['an error that goes on behind such a word', lost('http-404-unreadable-yet')],
  ])('let all others go after one that is %s', (_name, answer) => {
    expect(judge(answer)).toEqual({ atOnce: MOST, reasons: [null] });
  });

  it('go on one after the other behind one that was not permitted to leave', () => {
    expect(judge({ kind: 'not-permitted' }).atOnce).toBe(1);
  });

  it('go one after the other again after one that cannot be read, until one is', () => {
    expect(judge(NOT_NOW, lost('answer-without-id')).atOnce).toBe(1);
    expect(judge(NOT_NOW, lost('answer-without-id'), REFUSED).atOnce).toBe(MOST);
  });

  it('let all others go after two that are created with different ids', () => {
    expect(judge(CREATED).atOnce).toBe(1);
    expect(judge(CREATED, { kind: 'created', serviceId: 'inv_2' })).toEqual({ atOnce: MOST, reasons: [null, null] });
  });

  it.each([
    'answer-without-id',
    'answer-id-unusable',
    'answer-not-a-success',
    'answer-unreadable',
    'answer-contradictory',
    'http-404-unreadable',
  ])('stop the sending at the fifth that is %s', (code) => {
    expect(judge(...Array.from({ length: 6 }, () => lost(code)))).toEqual({
      atOnce: 1,
      reasons: [null, null, null, null, 'answers-unreadable', 'answers-unreadable'],
    });
  });

  it('stop it as well when an outage came between', () => {
    const code = 'answer-without-id';

    expect(
      judge(lost(code), lost(code), NOT_NOW, lost('connection-reset'), lost(code), lost(code), lost(code)).reasons.at(
        -1,
      ),
    ).toBe('answers-unreadable');
  });

  it.each([
    ['created', 'answer-without-id', CREATED],
    ['created', 'http-404-unreadable', CREATED],
    ['refused', 'http-404-unreadable', REFUSED],
    ['known with other bytes', 'http-404-unreadable', MISMATCH],
  ])('are forgotten once one was read that is %s: %s', (_name, code, answer) => {
    const unreadable = lost(code);

    expect(judge(unreadable, answer, ...Array.from({ length: 20 }, () => unreadable)).reasons.at(-1)).toBeNull();
  });

  it.each([
    ['refused', REFUSED],
    ['known with other bytes', MISMATCH],
  ])('stop the sending at the fifth without an id also when one was read that is %s', (_name, answer) => {
    const unreadable = Array.from({ length: 5 }, () => lost('answer-id-unusable'));

    expect(judge(answer, ...unreadable).reasons).toEqual([null, null, null, null, null, 'answers-unreadable']);
  });

  it('may repeat one id once, and stop the sending when they go on: it is no id of an invoice', () => {
    expect(judge(...Array.from({ length: 4 }, () => CREATED)).reasons).toEqual([
      null,
      null,
      'service-ids-repeated',
      'service-ids-repeated',
    ]);
  });

  it('that repeat an id for the same two keys stop the sending too, and say so', () => {
    const first = createFirstAnswers({ resize: () => undefined }, MOST);
    const reasons = ['a', 'b', 'b'].map((key) => first.note(CREATED, key));

    expect(reasons.slice(0, 2)).toEqual([null, null]);
    expect(reasons[2]).toEqual({
      code: 'service-ids-repeated',
      message: expect.stringContaining('the same id in the answers to 3 or more invoices') as string,
    });
  });

  it('are a hundred: an id that came later is compared with none', () => {
    const ids = Array.from({ length: 101 }, (_, at) => `inv_${at}`);
    const created = [...ids, ...Array.from({ length: 5 }, () => 'inv_100')].map((serviceId): CreateAnswer => ({
      kind: 'created',
      serviceId,
    }));

    expect(new Set(judge(...created).reasons)).toEqual(new Set([null]));
    expect(
      judge(...created, { kind: 'created', serviceId: 'inv_99' }, { kind: 'created', serviceId: 'inv_99' }).reasons.at(
        -1,
      ),
    ).toBe('service-ids-repeated');
  });

  it('say how many could not be read, and what was wrong with the last', () => {
    const first = createFirstAnswers({ resize: () => undefined }, MOST);
    const reasons = [1, 2, 3, 4, 5].map((key) => first.note(lost('answer-without-id'), `${key}`));

    expect(reasons.at(-1)?.message).toContain('5 came whole, and none was read (the last: HTTP 201: no id at /id)');
  });

  it('stop the sending when refusals cannot be read while others are created', () => {
    const unread: CreateAnswer = {
      ...{ kind: 'lost', retryAfterMs: null, unreadError: true },
      reason: { code: 'http-422-unreadable', message: 'HTTP 422: no text' },
    };
    const pairs = Array.from({ length: 5 }, (_, at): readonly CreateAnswer[] => [
      { kind: 'created', serviceId: `inv_${at}` },
      unread,
    ]).flat();

    expect(judge(...pairs).reasons).toEqual([...Array.from({ length: 9 }, () => null), 'answers-unreadable']);
  });

  it('of one key may have one id', () => {
    const first = createFirstAnswers({ resize: () => undefined }, MOST);

    expect([1, 2, 3, 4].map(() => first.note(CREATED, 'key'))).toEqual([null, null, null, null]);
  });
});
