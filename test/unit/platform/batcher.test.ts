import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LoteError } from '../../../src/domain/errors.ts';
import { Batcher } from '../../../src/platform/batcher.ts';

interface Item {
  readonly key: number;
  /** Place among all items of its key, in the order in which they were handed in. */
  readonly nth: number;
  readonly poison: boolean;
}

/** Calls of a few items each, of few keys, so that they meet; some items are refused by the database. */
const calls = fc.array(fc.array(fc.record({ key: fc.nat(5), poison: fc.boolean() }), { maxLength: 4 }), {
  minLength: 1,
  maxLength: 25,
});

function numbered(drawn: readonly (readonly { readonly key: number; readonly poison: boolean }[])[]): Item[][] {
  const seen = new Map<number, number>();
  return drawn.map((items) =>
    items.map(({ key, poison }) => {
      const nth = seen.get(key) ?? 0;
      seen.set(key, nth + 1);
      return { key, nth, poison: poison && nth % 3 === 0 };
    }),
  );
}

/** A batcher of numbers that keeps its writes. */
function recording(windowMs: number, fail: () => Error | null = () => null) {
  const writes: (readonly number[])[] = [];
  const batcher = new Batcher<number, number>({
    windowMs,
    async write(items) {
      writes.push(items);
      const error = fail();
      if (error !== null) throw error;
      return new Map(items.map((item) => [item, item]));
    },
  });
  return { batcher, writes };
}

describe('a batcher', () => {
  it('writes each good item once, one group after the other, each key in its order, and acknowledges no refused item', async () => {
    await fc.assert(
      fc.asyncProperty(calls, async (drawn) => {
        const written: Item[] = [];
        let isWriting = false;
        const batcher = new Batcher<Item, number>({
          keyOf: ({ key }) => key,
          windowMs: 0,
          async write(items) {
            expect(isWriting).toBe(false);
            expect(new Set(items.map(({ key }) => key)).size, 'a key twice in a write').toBe(items.length);
            isWriting = true;
            await new Promise((resolve) => setImmediate(resolve));
            isWriting = false;
            if (items.some(({ poison }) => poison)) throw new Error('refused');
            written.push(...items);
            return new Map(items.map(({ key, nth }) => [key, nth]));
          },
        });
        const handedIn = numbered(drawn);

        const ends = await Promise.allSettled(handedIn.map((items) => batcher.submit(items)));

        for (const [index, end] of ends.entries()) {
          const items = handedIn[index] ?? [];
          expect(end.status).toBe(items.some(({ poison }) => poison) ? 'rejected' : 'fulfilled');
          if (end.status === 'fulfilled') expect(end.value).toEqual(items.map(({ nth }) => nth));
        }
        await batcher.idle();
        expect(new Set(written)).toEqual(new Set(handedIn.flat().filter(({ poison }) => !poison)));
        for (const key of new Set(written.map((one) => one.key))) {
          const places = written.filter((one) => one.key === key).map(({ nth }) => nth);
          expect(places).toEqual([...new Set(places)].toSorted((a, b) => a - b));
        }
      }),
      { numRuns: 60 },
    );
  });

  it('merges calls in flight into writes of at most 500 items', async () => {
    const { batcher, writes } = recording(1);

    const results = await Promise.all(Array.from({ length: 1_100 }, (_, item) => batcher.submit([item])));

    expect(writes.map((items) => items.length)).toEqual([500, 500, 100]);
    expect(results).toEqual(Array.from({ length: 1_100 }, (_, item) => [item]));
  });

  it('does not wait for more after the last call', async () => {
    const { batcher, writes } = recording(600_000);

    await Promise.all([batcher.submit([1]), batcher.submit([2], true)]);

    expect(writes).toEqual([[1, 2]]);
  });

  it('acknowledges nothing while the ledger is away, does not try each call, and goes on afterwards', async () => {
    let isAway = true;
    const { batcher, writes } = recording(1, () => (isAway ? new LoteError('ledger-unavailable', 'away') : null));

    const ends = await Promise.allSettled(Array.from({ length: 40 }, (_, item) => batcher.submit([item])));
    isAway = false;

    expect(ends.every(({ status }) => status === 'rejected')).toBe(true);
    expect(writes).toHaveLength(1);
    expect(await batcher.submit([1])).toEqual([1]);
  });
});
