import { describe, expect, it } from 'vitest';
import { createRefusedShare } from '../../../../src/service/limits/rate-limiter.ts';
import { seededChance } from '../../../support/until.ts';

type Load = 'taken' | 'too-many';

/** Answers 2 ms apart, each sent just before: when it was time to slow down, and what was taken by then. */
function judged(loads: readonly Load[]): readonly { readonly at: number; readonly taken: number }[] {
  const share = createRefusedShare();
  return loads.flatMap((load, at) => {
    const now = 1_000_000 + at * 2;
    const taken = share.note(load, { sentAt: now - 1, now });
    return taken === null ? [] : [{ at, taken }];
  });
}

const times = (count: number, load: Load): Load[] => Array.from({ length: count }, () => load);

describe('the share of refused requests', () => {
  it('says nothing while the service takes everything', () => {
    expect(judged(times(500, 'taken'))).toEqual([]);
  });

  it('overlooks a few: their Retry-After is enough', () => {
    expect(judged([...times(200, 'taken'), ...times(5, 'too-many'), ...times(200, 'taken')])).toEqual([]);
  });

  it('says what was taken in the last second when more than one in eight is refused', () => {
    const [first] = judged([...times(200, 'taken'), ...times(30, 'too-many')]);

    expect(first?.at).toBeLessThan(220);
    expect(first?.taken).toBe(200);
  });

  it('says so soon when nothing is taken', () => {
    const [first] = judged(times(20, 'too-many'));

    expect(first?.taken).toBe(0);
    expect(first?.at).toBeLessThan(10);
  });

  it('is not moved by a service that refuses one in twenty at random', () => {
    const chance = seededChance(7);

    expect(judged(Array.from({ length: 5_000 }, () => (chance() < 0.05 ? 'too-many' : 'taken')))).toEqual([]);
  });

  it('does not count answers to requests that left before the last change', () => {
    const share = createRefusedShare();
    const note = (sentAt: number, now: number) => share.note('too-many', { sentAt, now });
    const first = Array.from({ length: 20 }, (_, at) => note(at, 100));

    expect(first.filter((taken) => taken !== null)).toEqual([0]);
    expect(Array.from({ length: 50 }, () => note(100, 3_000)).every((taken) => taken === null)).toBe(true);
    expect(Array.from({ length: 50 }, () => note(101, 3_000))).toContain(0);
  });

  it('counts what was taken in the last second only', () => {
    const share = createRefusedShare();
    for (let now = 10_000; now < 12_000; now += 10) share.note('taken', { sentAt: now, now });

    const refusals = Array.from({ length: 100 }, () => share.note('too-many', { sentAt: 12_500, now: 12_500 }));

    expect(refusals.find((taken) => taken !== null)).toBe(49);
  });
});
