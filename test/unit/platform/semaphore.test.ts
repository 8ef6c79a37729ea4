import { describe, expect, it } from 'vitest';
import { createSemaphore } from '../../../src/platform/semaphore.ts';

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
