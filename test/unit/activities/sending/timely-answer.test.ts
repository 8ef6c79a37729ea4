import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { timelyAnswer } from '../../../../activities/sending/sending-permission.ts';
import { steadyClock } from '../../../../src/domain/time/steady-clock.ts';

it('a POST may leave by the answer of a ledger that takes longer than an answer is good for', async () => {
  const clock = steadyClock();

  const asked = await timelyAnswer(clock, () => sleep(700, 'sending'));

  expect(asked?.answer).toBe('sending');
  expect(clock()).toBeLessThanOrEqual(asked?.until ?? 0);
});

it('no POST leaves by an answer that came while the process stood still', async () => {
  let now = 0;

  const asked = await timelyAnswer(
    () => now,
    () => {
      now += 600_000;
      return Promise.resolve('sending');
    },
  );

  expect(asked).toBeNull();
});
