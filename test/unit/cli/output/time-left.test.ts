import { expect, it } from 'vitest';
import { timeLeft } from '../../../../src/cli/output/time-left.ts';

it.each([
  [0.2, '1s'],
  [59.4, '59s'],
  [59.6, '1m 0s'],
  [200, '3m 20s'],
  [3_599, '59m 59s'],
  [7_530, '2h 5m'],
])('%d seconds left are told as %s', (seconds, text) => {
  expect(timeLeft(seconds)).toBe(text);
});
