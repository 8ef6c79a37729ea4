import { describe, expect, it } from 'vitest';
import type { TooMany } from '../../../../src/domain/request-rate.ts';
import { createAnswerTally } from '../../../../src/service/limits/answer-tally.ts';
import { seededChance } from '../../../support/seeded-chance.ts';

interface Told {
  readonly at: number;
  readonly tooMany: TooMany;
}

/** Answers a few milliseconds apart, each sent just before; what the tally said of them. */
function notified(
  refused: readonly boolean[],
  options: { throttled?: boolean; everyMs?: number } = {},
): readonly Told[] {
  const { throttled = false, everyMs = 2 } = options;
  const tally = createAnswerTally();
  return refused.flatMap((tooMany, index) => {
    const now = 1_000_000 + index * everyMs;
    const said = tally.note({ tooMany, sentAt: now - 1, now, throttled });
    return said === null ? [] : [{ at: index, tooMany: said }];
  });
}

const times = (count: number, tooMany: boolean): boolean[] => Array.from({ length: count }, () => tooMany);

describe('the tally of answers', () => {
  it('says nothing while the service takes everything', () => {
    expect(notified(times(500, false))).toEqual([]);
  });

  it('overlooks a few: the Retry-After is enough for them', () => {
    expect(notified([...times(200, false), ...times(9, true), ...times(200, false)])).toEqual([]);
  });

  it('tells when one in eight is refused, with what was taken in the last second', () => {
    const [first] = notified([...times(200, false), ...times(30, true)]);

    expect(first?.at).toBeLessThan(220);
    expect(first?.tooMany.share).toBeGreaterThan(1 / 8);
    expect(first?.tooMany.taken).toBe(200);
  });

  it('tells after ten when nothing else is answered', () => {
    const [first] = notified(times(20, true));

    expect(first).toMatchObject({ at: 10, tooMany: { taken: 0, share: 1 } });
  });

  it('is not moved by a service that refuses one in twenty at random', () => {
    const chance = seededChance(7);

    expect(notified(Array.from({ length: 5_000 }, () => chance() < 0.05))).toEqual([]);
  });

  it('tells of any 429 while the pace is slowed, once a second', () => {
    const said = notified(
      Array.from({ length: 2_000 }, (_, index) => index % 50 === 49),
      { throttled: true },
    );

    expect(said.map(({ at }) => at)).toEqual([49, 549, 1_049, 1_549]);
    expect(said[1]?.tooMany.share).toBeCloseTo(0.02, 1);
  });

  it('does not count answers to what had left before the pace was slowed', () => {
    const tally = createAnswerTally();
    const note = (sentAt: number, now: number) => tally.note({ tooMany: true, sentAt, now, throttled: true });

    expect(note(0, 10)).not.toBeNull();
    expect([note(5, 2_000), note(10, 3_000)]).toEqual([null, null]);
    // The one, and half of the one before.
    expect(note(11, 3_001)?.answers).toBeCloseTo(1.5, 1);
  });

  it('never counts more refusals than answers, after it was slowed once and again', () => {
    const tally = createAnswerTally();
    const shares: number[] = [];
    for (let now = 1_000_000; now < 1_010_000; now += 2) {
      const said = tally.note({ tooMany: now % 4 === 0, sentAt: now - 1, now, throttled: shares.length > 0 });
      if (said !== null) shares.push(said.share);
    }

    expect(shares.length).toBeGreaterThan(5);
    for (const share of shares) expect(share).toBeCloseTo(0.5, 1);
  });

  it('counts nothing of a second that lies further back than the one before', () => {
    const tally = createAnswerTally();
    const note = (tooMany: boolean, now: number) => tally.note({ tooMany, sentAt: now, now, throttled: true });
    for (let now = 10_000; now < 11_000; now += 10) note(false, now);

    expect(note(true, 13_100)?.taken).toBe(0);
  });

  it('counts the last second only', () => {
    const tally = createAnswerTally();
    const note = (tooMany: boolean, now: number) => tally.note({ tooMany, sentAt: now, now, throttled: true });
    for (let now = 10_000; now < 12_000; now += 10) note(false, now);

    expect(note(true, 12_500)?.taken).toBeCloseTo(50);
    expect(note(true, 15_000)?.taken).toBe(0);
  });
});
