import { describe, expect, it } from 'vitest';
import { createSemaphore } from '../../../src/concurrency/semaphore.ts';

describe('createSemaphore', () => {
  it('lets no more in than it has slots, first come first served', async () => {
    const semaphore = createSemaphore(1);
    const order: string[] = [];
    const first = await semaphore.acquire(undefined);
    const second = semaphore.acquire(undefined).then((release) => order.push('second') && release?.());
    const third = semaphore.acquire(undefined).then((release) => order.push('third') && release?.());
    order.push('first');

    first?.();
    await Promise.all([second, third]);

    expect(order).toEqual(['first', 'second', 'third']);
  });

  it('is idle while no slot is in use and nobody waits for one', async () => {
    const semaphore = createSemaphore(1);
    const seen = [semaphore.isIdle()];
    const release = semaphore.tryAcquire();
    seen.push(semaphore.isIdle());
    release?.();
    seen.push(semaphore.isIdle());
    semaphore.resize(0);
    seen.push(semaphore.isIdle());
    const gone = new AbortController();
    const waiting = semaphore.acquire(gone.signal);
    seen.push(semaphore.isIdle());
    gone.abort();
    await waiting;

    expect([...seen, semaphore.isIdle()]).toEqual([true, false, true, true, false, true]);
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

  it('forgets whoever gave up waiting', async () => {
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

  it('takes nobody whose signal is aborted already', async () => {
    expect(await createSemaphore(1).acquire(AbortSignal.abort())).toBeNull();
  });

  it('gives a free permit at once, and none that somebody waits for', async () => {
    const semaphore = createSemaphore(1);

    const first = semaphore.tryAcquire();
    const waiting = semaphore.acquire();
    first?.();
    const past = semaphore.tryAcquire();
    (await waiting)?.();

    expect([typeof first, past, typeof semaphore.tryAcquire()]).toEqual(['function', null, 'function']);
  });

  it('gives as many turns as there are, and the next one to who waited longest', async () => {
    const slots = createSemaphore(2);
    const order: string[] = [];
    const first = await slots.acquire();
    const second = await slots.acquire();
    const third = slots.acquire().then((release) => {
      order.push('third');
      return release;
    });
    const fourth = slots.acquire().then((release) => {
      order.push('fourth');
      return release;
    });
    await Promise.resolve();
    expect(order).toEqual([]);

    first?.();
    (await third)?.();
    second?.();
    (await fourth)?.();

    expect(order).toEqual(['third', 'fourth']);
    await Promise.all([slots.acquire(), slots.acquire()]);
  });
});
