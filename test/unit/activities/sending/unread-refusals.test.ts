import { describe, expect, it } from 'vitest';
import { createUnreadRefusals } from '../../../../activities/sending/unread-refusals.ts';
import type { CreateAnswer } from '../../../../src/domain/ports/invoicing-service.ts';

const REASON = { code: 'http-422-unreadable', message: 'HTTP 422: no text' };
const UNREAD: CreateAnswer = { kind: 'lost', reason: REASON, retryAfterMs: null, unreadError: true };
const PAGE: CreateAnswer = { kind: 'lost', reason: REASON, retryAfterMs: null };
const CREATED: CreateAnswer = { kind: 'created', serviceId: 'inv_1' };
const REFUSED: CreateAnswer = { kind: 'refused', reason: REASON };
const MISMATCH: CreateAnswer = { kind: 'key-mismatch', reason: REASON };

/** At which answers (from 1) it was told and stopped; each answer is to a key of its own. */
function judge(answers: readonly CreateAnswer[], keyOf: (at: number) => string = String) {
  let seen = 0;
  const found: number[] = [];
  const stopped: number[] = [];
  const refusals = createUnreadRefusals(() => void found.push(seen));
  for (const [at, answer] of answers.entries()) {
    seen = at + 1;
    if (refusals.note(answer, keyOf(at)) !== null) stopped.push(seen);
  }
  return { found, stopped };
}

const times = (count: number, ...answers: readonly CreateAnswer[]): readonly CreateAnswer[] =>
  Array.from({ length: count }, () => answers).flat();

describe('refusals that the profile cannot read', () => {
  it('are told at the first one beside a created invoice, and stop the sending at the fifth', () => {
    expect(judge(times(6, CREATED, UNREAD))).toEqual({ found: [2, 4, 6, 8, 10, 12], stopped: [10] });
  });

  it.each([
    ['in a row: an outage behind a gateway that answers in JSON', [CREATED, ...times(20, UNREAD)], [2]],
    ['before anything was created', times(20, UNREAD), []],
    ['as a page of a gateway', times(20, CREATED, PAGE), []],
    ['after one that was read', [REFUSED, ...times(20, CREATED, UNREAD)], []],
    ['after a key that was known with other bytes', [MISMATCH, ...times(20, CREATED, UNREAD)], []],
  ])('do not stop it %s', (_name, answers, found) => {
    expect(judge(answers)).toEqual({ found, stopped: [] });
  });

  it('are told by their number and the words of the last', () => {
    const refusals = createUnreadRefusals(() => undefined);
    const said = times(5, CREATED, UNREAD).map((answer, at) => refusals.note(answer, String(at)));

    expect(said.at(-1)).toContain('5 invoices got one while others were created (the last: HTTP 422: no text)');
  });

  it('count once for one invoice that is tried again', () => {
    expect(judge(times(6, CREATED, UNREAD), (at) => (at % 2 === 1 ? 'same' : String(at)))).toEqual({
      found: [2],
      stopped: [],
    });
  });
});
