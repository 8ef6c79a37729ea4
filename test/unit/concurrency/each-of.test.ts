import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eachOf } from '../../../src/concurrency/each-of.ts';

/** Lets every promise that is due go on. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

describe('work for each of many', () => {
  it('is done once for each, and never for more at a time than allowed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 1, max: 8 }), async (count, atOnce) => {
        const items = Array.from({ length: count }, (_, at) => at);
        const done: number[] = [];
        let running = 0;
        let most = 0;

        await eachOf(items, atOnce, async (item) => {
          running += 1;
          most = Math.max(most, running);
          await turn();
          running -= 1;
          done.push(item);
        });

        expect(done.toSorted((a, b) => a - b)).toEqual(items);
        expect(most).toBe(Math.min(count, atOnce));
      }),
      { numRuns: 30 },
    );
  });

  it('starts nothing more after the first error, which is the one that is thrown', async () => {
    const begun: number[] = [];

    const work = eachOf([1, 2, 3, 4, 5, 6], 2, async (item) => {
      begun.push(item);
      await turn();
      if (item === 2) throw new Error('second');
    });

    await expect(work).rejects.toThrow('second');
    await turn();
    await turn();
    expect(begun.length).toBeLessThanOrEqual(3);
    expect(begun).not.toContain(5);
  });

  it('throws when what was begun has ended', async () => {
    let ended = 0;

    const work = eachOf([1, 2, 3], 3, async (item) => {
      if (item === 1) throw new Error('first');
      await turn();
      await turn();
      ended += 1;
    });

    await expect(work).rejects.toThrow('first');
    expect(ended).toBe(2);
  });

  it('takes them in their order', async () => {
    const begun: string[] = [];

    await eachOf(['a', 'b', 'c'], 1, async (item) => void begun.push(item));

    expect(begun).toEqual(['a', 'b', 'c']);
  });
});
