import { describe, expect, it } from 'vitest';
import { createFirstAnswers } from '../../../../activities/sending/first-answers.ts';
import type { CreateAnswer } from '../../../../src/domain/ports/invoicing-service.ts';

const MOST = 64;
const CREATED: CreateAnswer = { kind: 'created', serviceId: 'inv_1' };
const REFUSED: CreateAnswer = { kind: 'refused', reason: { code: 'bad-nif', message: 'No' } };
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
  ])('let all others go after one that is %s', (_name, answer) => {
    expect(judge(answer)).toEqual({ atOnce: MOST, reasons: [null] });
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

  it('are forgotten once one was read', () => {
    const unreadable = lost('answer-without-id');

    expect(judge(unreadable, CREATED, ...Array.from({ length: 20 }, () => unreadable)).reasons.at(-1)).toBeNull();
  });

  it('may repeat one id once, and stop the sending when they go on: it is no id of an invoice', () => {
    expect(judge(...Array.from({ length: 4 }, () => CREATED)).reasons).toEqual([
      null,
      null,
      'service-ids-repeated',
      'service-ids-repeated',
    ]);
  });

  it('of one key may have one id', () => {
    const first = createFirstAnswers({ resize: () => undefined }, MOST);

    expect([1, 2, 3, 4].map(() => first.note(CREATED, 'key'))).toEqual([null, null, null, null]);
  });
});
