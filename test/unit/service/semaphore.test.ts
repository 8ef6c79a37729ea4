import { describe, expect, it } from 'vitest';
import { createSemaphore } from '../../../src/service/semaphore.ts';

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
});
