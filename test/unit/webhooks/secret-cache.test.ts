import { describe, expect, it } from 'vitest';
import { createSecretCache } from '../../../src/webhooks/secret-cache.ts';

describe('createSecretCache', () => {
  it('reads again only when what it has is older than allowed', async () => {
    let time = 0;
    let reads = 0;
    const cache = createSecretCache(
      async () => [`secret-${(reads += 1)}`],
      () => time,
    );

    const seen = [await cache.get(100)];
    time = 99;
    seen.push(await cache.get(100));
    time = 100;
    seen.push(await cache.get(100));

    expect(seen).toEqual([['secret-1'], ['secret-1'], ['secret-2']]);
  });

  it('reads again after the clock was set back', async () => {
    let time = 3_600_000;
    let reads = 0;
    const cache = createSecretCache(
      async () => [`secret-${(reads += 1)}`],
      () => time,
    );

    const before = await cache.get(100);
    time = 0;

    expect([before, await cache.get(100), await cache.get(100)]).toEqual([['secret-1'], ['secret-2'], ['secret-2']]);
  });

  it('reads once for many who ask at the same time', async () => {
    let reads = 0;
    const cache = createSecretCache(
      async () => [`secret-${(reads += 1)}`],
      () => 0,
    );

    await Promise.all(Array.from({ length: 50 }, async () => await cache.get(100)));

    expect(reads).toBe(1);
  });

  it('tells of a failed reading and tries again at the next question', async () => {
    let broken = true;
    const cache = createSecretCache(
      async () => {
        if (broken) throw new Error('down');
        return ['secret'];
      },
      () => 0,
    );
    await expect(cache.get(100)).rejects.toThrow('down');
    broken = false;

    expect(await cache.get(100)).toEqual(['secret']);
  });

  it('has none in memory before the first reading, and none that are older than allowed', async () => {
    let time = 0;
    const cache = createSecretCache(
      async () => ['secret'],
      () => time,
    );

    const before = cache.known(100);
    await cache.get(100);
    time = 99;
    const young = cache.known(100);
    time = 100;

    expect([before, young, cache.known(100)]).toEqual([null, ['secret'], null]);
  });
});
