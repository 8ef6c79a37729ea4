import { describe, expect, it } from 'vitest';
import { createSlots } from '../../../activities/slots.ts';

describe('slots', () => {
  it('give as many turns as there are, and the next one to who waited longest', async () => {
    const slots = createSlots(2);
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

    first();
    (await third)();
    second();
    (await fourth)();

    expect(order).toEqual(['third', 'fourth']);
    await Promise.all([slots.acquire(), slots.acquire()]);
  });
});
