import { describe, expect, it } from 'vitest';
import { eachOfStream } from '../../../src/concurrency/each-of-stream.ts';

/** Lets every promise that is due go on. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

async function* numbers(count: number): AsyncGenerator<number> {
  for (let number = 1; number <= count; number += 1) {
    await turn();
    yield number;
  }
}

describe('work for each item of a generator', () => {
  it('is done once for each, and never for more at a time than allowed', async () => {
    const done: number[] = [];
    let running = 0;
    let most = 0;

    await eachOfStream(numbers(7), 2, async (number) => {
      running += 1;
      most = Math.max(most, running);
      for (let turns = 0; turns < 5; turns += 1) await turn();
      running -= 1;
      done.push(number);
    });

    expect(done.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(most).toBe(2);
  });

  it('takes nothing more after an error, which it throws when the rest of the work has ended', async () => {
    const begun: number[] = [];
    const ended: number[] = [];

    const work = eachOfStream(numbers(9), 2, async (number) => {
      begun.push(number);
      for (let turns = 0; turns < number * 3; turns += 1) await turn();
      if (number === 1) throw new Error('first');
      ended.push(number);
    });

    await expect(work).rejects.toThrow('first');
    expect(ended).toEqual(begun.slice(1));
    expect(begun).not.toContain(4);
  });

  it('begins nothing after an error, not even with what the generator was just making', async () => {
    const begun: number[] = [];
    async function* slow(): AsyncGenerator<number> {
      yield 1;
      for (let turns = 0; turns < 9; turns += 1) await turn();
      yield 2;
    }

    const work = eachOfStream(slow(), 2, (number) => {
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

    const work = eachOfStream(broken(), 2, async (number) => {
      for (let turns = 0; turns < 5; turns += 1) await turn();
      ended.push(number);
    });

    await expect(work).rejects.toThrow('broken');
    expect(ended).toEqual([1]);
  });
});
