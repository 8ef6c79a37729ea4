import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { repeat } from '../../../src/platform/repeat.ts';
import { until } from '../../support/until.ts';

describe('what is repeated', () => {
  it('goes on after a round that failed, and ends when it is stopped', async () => {
    let rounds = 0;
    const repetition = repeat(1, () => {
      rounds += 1;
      return Promise.reject(new Error('away'));
    });

    await until(() => rounds >= 3);
    await repetition.stop();
    const atStop = rounds;
    await sleep(20);

    expect(rounds).toBe(atStop);
  });

  it('is stopped after the round that is under way, and learns of the stop', async () => {
    const said: string[] = [];
    let goOn: () => void = () => undefined;
    const repetition = repeat(1, async (stopped) => {
      await new Promise<void>((resolve) => (goOn = resolve));
      said.push(stopped.aborted ? 'ended after the stop' : 'ended before the stop');
    });
    const stopping = repetition.stop().then(() => said.push('stopped'));
    goOn();
    await stopping;

    expect(said).toEqual(['ended after the stop', 'stopped']);
  });

  it('is stopped although a round never ends', async () => {
    const repetition = repeat(1, () => new Promise(() => undefined));

    await expect(Promise.race([repetition.stop(), sleep(30_000, 'waits')])).resolves.toBeUndefined();
  });
});
