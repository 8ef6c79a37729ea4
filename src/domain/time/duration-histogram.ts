/** Two bounds differ by nine percent: finer than anybody reads, and hours take no more than 250 bounds. */
const STEPS_PER_DOUBLING = 8;
const SHORTEST_MS = 10;

/** How often a duration fell into each step, by the number of the step; steps that never happened are left out. */
export type DurationHistogram = Readonly<Record<string, number>>;

/** Counts durations in milliseconds; a negative one counts as none at all. */
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

/** The durations of several histograms in one. */
export function mergedHistograms(histograms: Iterable<DurationHistogram>): DurationHistogram {
  const merged: Record<string, number> = {};
  for (const histogram of histograms)
    for (const [step, count] of Object.entries(histogram)) merged[step] = (merged[step] ?? 0) + count;
  return merged;
}

/** Milliseconds within which this share (0 to 1) of the durations lie, rounded up to the next step; null: there are none. */
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

/** The same, coarser: how many durations end within each doubling, from the first that has some to the last; milliseconds. */
export function durationDoublings(
  histogram: DurationHistogram,
): readonly { readonly withinMs: number; readonly count: number }[] {
  const counts = new Map<number, number>();
  for (const [step, count] of Object.entries(histogram)) {
    const doubling = Math.ceil(Number(step) / STEPS_PER_DOUBLING);
    counts.set(doubling, (counts.get(doubling) ?? 0) + count);
  }
  if (counts.size === 0) return [];
  const [first, last] = [Math.min(...counts.keys()), Math.max(...counts.keys())];
  return Array.from({ length: last - first + 1 }, (_, at) => ({
    withinMs: SHORTEST_MS * 2 ** (first + at),
    count: counts.get(first + at) ?? 0,
  }));
}
