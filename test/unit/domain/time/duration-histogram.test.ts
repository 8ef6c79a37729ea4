import fc from 'fast-check';
import { expect, it } from 'vitest';
import { durationCounter, durationQuantile, mergedHistograms } from '../../../../src/domain/time/duration-histogram.ts';

function histogramOf(durations: readonly number[]) {
  const counter = durationCounter();
  for (const ms of durations) counter.add(ms);
  return counter.histogram();
}

it('tells each share to within nine percent and never too little, from several histograms as from one', () => {
  const durations = fc.array(fc.integer({ min: 10, max: 1_000_000_000 }), { minLength: 1, maxLength: 200 });
  fc.assert(
    fc.property(durations, durations, fc.constantFrom(0.5, 0.95, 1), (some, others, share) => {
      const sorted = [...some, ...others].sort((a, b) => a - b);
      const exact = sorted[Math.ceil(share * sorted.length) - 1] ?? 0;

      const told = durationQuantile(mergedHistograms([histogramOf(some), histogramOf(others)]), share) ?? 0;

      expect(told).toBeGreaterThanOrEqual(exact * 0.999999);
      expect(told).toBeLessThanOrEqual(exact * 2 ** (1 / 8) * 1.000001);
    }),
  );
});

it('knows nothing of no durations, and takes what no clock can measure for the shortest', () => {
  expect(durationQuantile({}, 0.5)).toBeNull();
  expect(durationQuantile(histogramOf([-5, 0, 3]), 1)).toBe(10);
});
