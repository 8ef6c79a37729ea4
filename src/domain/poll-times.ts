/** No wait for a final word asks more often than this. */
const MOST_POLLS = 6;
const LONGEST_FIRST_POLL_MS = 30_000;
/** The last ask comes just before the settle time ends: its answer must still be recorded. */
const LAST_POLL_SHARE = 0.95;

/**
 * When to GET an invoice that stays silent, in ms after its acceptance: first after min(30 s, settle / 4), then backing
 * off by two, the last one just before the settle time ends.
 */
export function pollTimes(settleMs: number): readonly number[] {
  const first = Math.min(LONGEST_FIRST_POLL_MS, settleMs / 4);
  const last = Math.max(first, settleMs * LAST_POLL_SHARE);
  const times: number[] = [];
  for (let at = first; at < last && times.length < MOST_POLLS - 1; at *= 2) times.push(Math.round(at));
  times.push(Math.round(last));
  return times;
}

/** The last of the times to ask are for every silent invoice, the earlier ones for a sample: an engine that is slow for all is not asked by thousands. */
const FEWEST_POLLS = 3;

/** Whether every silent invoice is asked for the `ask`-th time (from 1), not only a sample: each is asked three times at least. */
export function pollsEveryInvoice(settleMs: number, ask: number): boolean {
  return ask > pollTimes(settleMs).length - FEWEST_POLLS;
}

/** How many times an invoice accepted `ageMs` ago should have been asked for by now. */
export function pollsDue(settleMs: number, ageMs: number): number {
  return pollTimes(settleMs).filter((at) => at <= ageMs).length;
}

/** The time until the next ask of an invoice accepted `ageMs` ago; null when there is none left. */
export function nextAskInMs(settleMs: number, ageMs: number): number | null {
  const next = pollTimes(settleMs).find((at) => at > ageMs);
  return next === undefined ? null : next - ageMs;
}
