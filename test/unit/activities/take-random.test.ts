import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { takeRandom } from '../../../activities/take-random.ts';

const chance = fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }));

describe('drawFrom', () => {
  it('draws so many different items, or all of them, and leaves the list as it was', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer()), fc.nat({ max: 50 }), chance, (items, count, stream) => {
        const before = [...items];
        const drawn = takeRandom(items, count, () => stream.next().value as number);

        expect(drawn).toHaveLength(Math.min(count, items.length));
        expect(new Set(drawn).size).toBe(drawn.length);
        expect(drawn.filter((item) => !items.includes(item))).toEqual([]);
        expect(items).toEqual(before);
      }),
    );
  });

  it('can draw each of them, and keeps to the list when chance is at its edge', () => {
    const items = ['a', 'b', 'c', 'd'];

    expect([0, 0.25, 0.5, 0.75].map((one) => takeRandom(items, 1, () => one)[0])).toEqual(items);
    expect(takeRandom(['a', 'b'], 2, () => 1)).toEqual(['b', 'a']);
  });
});
