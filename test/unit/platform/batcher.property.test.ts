import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isLedgerAway, LoteError } from '../../../src/domain/errors.ts';
import { Batcher } from '../../../src/platform/batcher.ts';

interface Item {
  readonly key: number;
  /** Place among all items of its key, in the order in which they were handed in. */
  readonly nth: number;
  readonly poison: boolean;
}

/** Calls of a few items each, of few keys, so that they meet; some items are refused by the database. */
const calls = fc.array(fc.array(fc.record({ key: fc.nat(5), poison: fc.boolean() }), { minLength: 1, maxLength: 4 }), {
  minLength: 1,
  maxLength: 25,
});

function ascending(a: number, b: number): number {
  return a - b;
}

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

describe('a batcher under any calls', () => {
  it('writes each good item once, its key never twice at a time, in the order of its key, and acknowledges no other', async () => {
    await fc.assert(
      fc.asyncProperty(calls, async (drawn) => {
        const written: Item[] = [];
        const inFlight = new Set<number>();
        const batcher = new Batcher<Item, number>({
          keyOf: ({ key }) => key,
          windowMs: 0,
          async write(items) {
            for (const { key } of items) {
              expect(inFlight.has(key), 'a key twice at a time').toBe(false);
              inFlight.add(key);
            }
            await new Promise((resolve) => setImmediate(resolve));
            for (const { key } of items) inFlight.delete(key);
            if (items.some(({ poison }) => poison)) throw new Error('refused');
            written.push(...items);
            return new Map(items.map(({ key, nth }) => [key, nth]));
          },
        });
        const handedIn = numbered(drawn);

        const ends = await Promise.allSettled(handedIn.map((items) => batcher.submit(items)));

        for (const [index, end] of ends.entries()) {
          const items = handedIn[index] ?? [];
          if (end.status === 'rejected') expect(items.some(({ poison }) => poison)).toBe(true);
          else {
            expect(items.some(({ poison }) => poison)).toBe(false);
            expect(end.value.toSorted(ascending)).toEqual(items.map(({ nth }) => nth).toSorted(ascending));
            for (const item of items) expect(written.filter((one) => one === item)).toHaveLength(1);
          }
        }
        for (const key of new Set(written.map((one) => one.key))) {
          const places = written.filter((one) => one.key === key).map(({ nth }) => nth);
          expect(places).toEqual(places.toSorted(ascending));
        }
      }),
      { numRuns: 60 },
    );
  });

  it('acknowledges nothing at all while the ledger is away, and does not knock once for each call', async () => {
    let writes = 0;
    const batcher = new Batcher<number, number>({
      keyOf: (item) => item,
      isOutage: isLedgerAway,
      write: () => {
        writes += 1;
        return Promise.reject(new LoteError('ledger-unavailable', 'away'));
      },
    });

    const ends = await Promise.allSettled(Array.from({ length: 40 }, (_, item) => batcher.submit([item])));

    expect(ends.every(({ status }) => status === 'rejected')).toBe(true);
    expect(writes).toBe(1);
  });
});
