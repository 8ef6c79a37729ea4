/** Two bounds differ by nine percent, which is finer than a reader needs; durations of hours take no more than 250 bounds. */
const STEPS_PER_DOUBLING = 8;
const SHORTEST_MS = 10;

/** The number of durations in each step, by the number of the step; steps without a duration are missing. */
export type DurationHistogram = Readonly<Record<string, number>>;

/** Counts durations in milliseconds; a negative duration counts as 0. */
export function durationCounter(): { add(ms: number): void; histogram(): DurationHistogram } {
  const counts = new Map<number, number>();
  return {
    add(ms) {
      const step = Math.max(0, Math.ceil(Math.log2(Math.max(ms, SHORTEST_MS) / SHORTEST_MS) * STEPS_PER_DOUBLING));
      counts.set(step, (counts.get(step) ?? 0) + 1);
    },
    histogram: () => Object.fromEntries([...counts].sort(([a], [b]) => a - b)),
  };
}

/** Returns the sum of several histograms. */
export function mergedHistograms(histograms: Iterable<DurationHistogram>): DurationHistogram {
  const merged: Record<string, number> = {};
  for (const histogram of histograms)
    for (const [step, count] of Object.entries(histogram)) merged[step] = (merged[step] ?? 0) + count;
  return merged;
}

/** Milliseconds within which this share (0 to 1) of the durations lie, rounded up to a step; null if there are none. */
export function durationQuantile(histogram: DurationHistogram, share: number): number | null {
  const steps = Object.entries(histogram)
    .map(([step, count]) => [Number(step), count] as const)
    .sort(([a], [b]) => a - b);
  const total = steps.reduce((sum, [, count]) => sum + count, 0);
  let passed = 0;
  for (const [step, count] of steps) {
    passed += count;
    if (passed >= share * total) return SHORTEST_MS * 2 ** (step / STEPS_PER_DOUBLING);
  }
  return null;
}
