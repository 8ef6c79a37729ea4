import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSemaphore, eachOf } from '../../../src/platform/concurrency.ts';

/** Lets every promise that is due go on. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

describe('work for each of many', () => {
  it('is done once for each in their order, and never for more at a time than allowed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 1, max: 8 }), async (count, atOnce) => {
        const items = Array.from({ length: count }, (_, at) => at);
        const begun: number[] = [];
        const done: number[] = [];
        let running = 0;
        let most = 0;

        await eachOf(items, atOnce, async (item) => {
          begun.push(item);
          running += 1;
          most = Math.max(most, running);
          await turn();
          running -= 1;
          done.push(item);
        });

        expect(begun).toEqual(items);
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
});

describe('work for each item of a generator', () => {
  it('begins nothing after an error, not even with what the generator was just making', async () => {
    const begun: number[] = [];
    async function* slow(): AsyncGenerator<number> {
      yield 1;
      for (let turns = 0; turns < 9; turns += 1) await turn();
      yield 2;
    }

    const work = eachOf(slow(), 2, (number) => {
      begun.push(number);
      return Promise.reject(new Error(`of ${number}`));
    });

    await expect(work).rejects.toThrow('of 1');
    expect(begun).toEqual([1]);
  });

  it('throws what the generator throws, after the work that has begun', async () => {
    const ended: number[] = [];
    async function* broken(): AsyncGenerator<number> {
      yield 1;
      await turn();
      throw new Error('broken');
    }

    const work = eachOf(broken(), 2, async (number) => {
      for (let turns = 0; turns < 5; turns += 1) await turn();
      ended.push(number);
    });

    await expect(work).rejects.toThrow('broken');
    expect(ended).toEqual([1]);
  });
});

describe('createSemaphore', () => {
  it('lets no more in than it has slots, first come first served', async () => {
    const semaphore = createSemaphore(2);
    const order: string[] = [];
    const first = await semaphore.acquire(undefined);
    await semaphore.acquire(undefined);
    const second = semaphore.acquire(undefined).then((release) => order.push('second') && release?.());
    const third = semaphore.acquire(undefined).then((release) => order.push('third') && release?.());
    order.push('first');

    first?.();
    await Promise.all([second, third]);

    expect(order).toEqual(['first', 'second', 'third']);
  });

  it('serves an urgent caller before those that wait already', async () => {
    const semaphore = createSemaphore(1);
    const order: string[] = [];
    const first = await semaphore.acquire();
    const patient = semaphore.acquire().then((release) => order.push('patient') && release?.());
    const urgent = semaphore.acquire(undefined, true).then((release) => order.push('urgent') && release?.());

    first?.();
    await Promise.all([patient, urgent]);

    expect(order).toEqual(['urgent', 'patient']);
  });

  it('gives a slot back once, however often it is released', async () => {
    const semaphore = createSemaphore(1);
    const release = await semaphore.acquire(undefined);
    release?.();
    release?.();

    await semaphore.acquire(undefined);
    const stop = new AbortController();
    const second = semaphore.acquire(stop.signal);
    stop.abort();

    expect(await second).toBeNull();
  });

  it('forgets a caller that gave up waiting', async () => {
    const semaphore = createSemaphore(1);
    const release = await semaphore.acquire(undefined);
    const stop = new AbortController();
    const impatient = semaphore.acquire(stop.signal);
    const patient = semaphore.acquire(undefined);
    stop.abort();

    release?.();

    expect(await impatient).toBeNull();
    expect(await patient).toBeTypeOf('function');
  });

  it('refuses a caller whose signal is aborted already', async () => {
    expect(await createSemaphore(1).acquire(AbortSignal.abort())).toBeNull();
  });

  it('gives a free permit at once, and none that a caller waits for', async () => {
    const semaphore = createSemaphore(1);

    const first = semaphore.tryAcquire();
    const waiting = semaphore.acquire();
    first?.();
    const past = semaphore.tryAcquire();
    (await waiting)?.();

    expect([typeof first, past, typeof semaphore.tryAcquire()]).toEqual(['function', null, 'function']);
  });
});
