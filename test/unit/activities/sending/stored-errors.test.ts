import { describe, expect, it } from 'vitest';
import { StoredErrors, type StoredErrorVerdict } from '../../../../activities/sending/stored-errors.ts';
import type { CreateAnswer } from '../../../../src/domain/records/service-answers.ts';

const MINUTE = 60_000;
const SPAN_MS = 15 * MINUTE;
const CREATED: CreateAnswer = { kind: 'created', serviceId: 'inv_1' };
const REFUSED: CreateAnswer = { kind: 'refused', reason: { code: 'tax', message: 'HTTP 422: tax' } };

function error(message = 'HTTP 500: broken'): CreateAnswer {
  return { kind: 'lost', reason: { code: 'internal-error', message }, retryAfterMs: null };
}

/** What is noted of answers, with a clock that stands still unless it is told. */
function noting() {
  const errors = new StoredErrors({ spanMs: SPAN_MS });
  let clock = Date.UTC(2026, 10, 23);
  const answered = (key: string, answer: CreateAnswer, place = errors.leave()): StoredErrorVerdict =>
    errors.note({ key, place, sentAt: clock, answeredAt: clock }, answer);
  return {
    ...{ errors, answered },
    later: (ms: number) => void (clock += ms),
    times: (count: number, key: string, answer = error()): readonly StoredErrorVerdict[] =>
      Array.from({ length: count }, () => answered(key, answer)),
  };
}

describe('an error that is kept under a key', () => {
  it('is one that the service gives twelve times in the same words, while it creates what was sent later', () => {
    const { answered, times } = noting();
    answered('key', error());
    answered('a', CREATED);
    answered('b', CREATED);

    expect(times(11, 'key')).toEqual([...Array.from({ length: 10 }, () => 'own'), 'stored']);
  });

  it.each<readonly [string, (noted: ReturnType<typeof noting>) => unknown]>([
    [
      'without a creation after it left: that may be an outage of the write path',
      ({ answered }) => ['a', 'b'].map((key) => answered(key, CREATED)),
    ],
    [
      'by creations that left before it, whenever they were answered',
      ({ errors, answered }) => {
        const places = [errors.leave(), errors.leave(), errors.leave()];
        answered('key', error());
        for (const [at, place] of places.entries()) answered(`early-${at}`, CREATED, place);
      },
    ],
    [
      'by refusals: they may be given before anything is written',
      ({ answered }) => [answered('key', error()), ...['a', 'b', 'c'].map((key) => answered(key, REFUSED))],
    ],
  ])('is not proved %s', (_, before) => {
    const noted = noting();
    before(noted);

    expect(new Set(noted.times(40, 'key'))).toEqual(new Set(['open']));
  });

  it('is not told from an outage by fewer creations than keys that share it', () => {
    const { answered, times } = noting();
    for (const key of ['one', 'two', 'three']) answered(key, error());
    for (const key of ['a', 'b', 'c']) answered(key, CREATED);

    expect(new Set(times(20, 'one'))).toEqual(new Set(['open']));
    answered('d', CREATED);
    expect(answered('one', error())).toBe('stored');
  });

  it('is compared with keys that share its words, and with no other errors', () => {
    const { answered, times } = noting();
    answered('key', error());
    for (const key of ['one', 'two', 'three']) answered(key, error(`HTTP 502: ${key}`));
    for (const key of ['a', 'b']) answered(key, CREATED);

    expect(times(1, 'key')).toEqual(['own']);
  });

  it('is not seen in its first answer, however many were created meanwhile', () => {
    const { errors, answered } = noting();
    const place = errors.leave();
    for (const key of ['a', 'b', 'c']) answered(key, CREATED);

    expect(answered('key', error(), place)).toBe('open');
    expect(answered('key', error())).toBe('own');
  });

  it('is told from an outage by 64 creations when 63 keys share it', () => {
    const { answered } = noting();
    for (let key = 0; key < 63; key += 1) answered(`key ${key}`, error());
    for (let key = 0; key < 64; key += 1) answered(`created ${key}`, CREATED);

    expect(answered('key 0', error())).toBe('own');
  });

  it('is told by time where nothing is left to compare with, and not by time alone: a few answers are no pattern', () => {
    const { answered, times, later } = noting();
    times(5, 'key');
    times(4, 'few');

    later(SPAN_MS - 1);
    expect(new Set(times(20, 'key'))).toEqual(new Set(['open']));
    later(1);
    expect(answered('key', error())).toBe('stored');
    expect(times(2, 'few')).toEqual(['open', 'stored']);
  });

  it('is not one whose words change, that is broken by another answer, or that never came from the service', () => {
    const { answered, times, later } = noting();
    let count = 0;

    for (let at = 0; at < 30; at += 1) {
      later(MINUTE);
      expect(answered('a', error(`HTTP 500: ${(count += 1)}`))).toBe('open');
    }
    for (let round = 0; round < 5; round += 1) {
      expect(new Set(times(5, 'b'))).toEqual(new Set(['open']));
      later(SPAN_MS);
      answered('b', { kind: 'not-now', reason: { code: 'x', message: 'HTTP 429' }, retryAfterMs: null });
    }
    for (const said of ['A proxy said HTTP 500', 'The request may have arrived']) {
      times(30, said, error(said));
      later(SPAN_MS);
      expect(answered(said, error(said))).toBe('open');
    }
  });

  it('is counted for each key alone, and from the start for one that was forgotten', () => {
    const { errors, answered, times, later } = noting();
    times(12, 'one');
    times(12, 'two');
    later(SPAN_MS);
    errors.forget('two');

    expect(answered('three', error())).toBe('open');
    expect(answered('two', error())).toBe('open');
    expect(answered('one', error())).toBe('stored');
  });

  it('does not stay in memory, nor in the way of others, when nobody asks about it any more', () => {
    const { answered, times, later } = noting();
    for (const key of ['old', 'older']) times(3, key);
    later(60 * MINUTE);
    answered('key', error());
    answered('a', CREATED);
    answered('b', CREATED);

    expect(answered('key', error())).toBe('own');
  });
});
