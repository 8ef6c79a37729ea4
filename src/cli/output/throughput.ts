/** Long enough to smooth out slices and pages, short enough to follow a service that slows down. */
const WINDOW_MS = 20_000;
/** A rate of the first moments says nothing. */
const SHORTEST_MS = 2_000;

export interface Pace {
  /** So much a second over the last while, told that so many are done now; null: too early to say. */
  rate(now: number, done: number): number | null;
}

/** How fast a number rises. */
export function createPace(): Pace {
  let seen: { readonly at: number; readonly done: number }[] = [];
  return {
    rate(now, done) {
      // A retry lets some go again: then the count falls, and what was seen before says nothing.
      if (seen.some((one) => one.done > done)) seen = [];
      seen.push({ at: now, done });
      while ((seen[1]?.at ?? now) <= now - WINDOW_MS) seen.shift();
      const [first] = seen;
      if (first === undefined || now - first.at < SHORTEST_MS) return null;
      return ((done - first.done) * 1_000) / (now - first.at);
    },
  };
}
