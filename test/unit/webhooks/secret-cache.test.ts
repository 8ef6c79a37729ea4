import { describe, expect, it } from 'vitest';
import { createSecretCache } from '../../../src/webhooks/handle-delivery.ts';

/** A cache of secrets that are counted as they are read. */
function counting(now: number) {
  const clock = { now };
  let reads = 0;
  const cache = createSecretCache(
    async () => [`secret-${(reads += 1)}`],
    () => clock.now,
  );
  return { cache, clock };
}

describe('createSecretCache', () => {
  it('reads again only when what it has is older than allowed', async () => {
    const { cache, clock } = counting(0);

    const seen = [await cache.get(100)];
    clock.now = 99;
    seen.push(await cache.get(100));
    clock.now = 100;
    seen.push(await cache.get(100));

    expect(seen).toEqual([['secret-1'], ['secret-1'], ['secret-2']]);
  });

  it('reads again after the clock was set back', async () => {
    const { cache, clock } = counting(3_600_000);

    const before = await cache.get(100);
    clock.now = 0;

    expect([before, await cache.get(100), await cache.get(100)]).toEqual([['secret-1'], ['secret-2'], ['secret-2']]);
  });

  it('reads once for many who ask at the same time', async () => {
    const { cache } = counting(0);

    const seen = await Promise.all(Array.from({ length: 50 }, async () => await cache.get(100)));

    expect(new Set(seen.flat())).toEqual(new Set(['secret-1']));
  });
});
