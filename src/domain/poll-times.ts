/** An invoice is polled at most this often. */
const MOST_POLLS = 6;
const LONGEST_FIRST_POLL_MS = 30_000;
/** The last poll comes just before the settle time ends: its answer must still be recorded. */
const LAST_POLL_SHARE = 0.95;

/**
 * When to poll a pending invoice, in ms after its acceptance: first after min(30 s, settle / 4), then each time after
 * twice as long, and last just before the settle time ends.
 */
export function pollTimes(settleMs: number): readonly number[] {
  const first = Math.min(LONGEST_FIRST_POLL_MS, settleMs / 4);
  const last = Math.max(first, settleMs * LAST_POLL_SHARE);
  const times: number[] = [];
  for (let at = first; at < last && times.length < MOST_POLLS - 1; at *= 2) times.push(Math.round(at));
  times.push(Math.round(last));
  return times;
}

/**
 * The last three polls go to every pending invoice, the earlier ones to a sample: an engine that is slow for all
 * invoices must not get thousands of polls.
 */
const FEWEST_POLLS = 3;

/**
 * Whether the `poll`-th poll (from 1) goes to every pending invoice, not only to a sample. Each gets at least three.
 */
export function pollsEveryInvoice(settleMs: number, poll: number): boolean {
  return poll > pollTimes(settleMs).length - FEWEST_POLLS;
}

/** How many times an invoice accepted `ageMs` ago should have been polled by now. */
export function pollsDue(settleMs: number, ageMs: number): number {
  return pollTimes(settleMs).filter((at) => at <= ageMs).length;
}

/** The time until the next poll of an invoice accepted `ageMs` ago; null: none is left. */
export function nextPollInMs(settleMs: number, ageMs: number): number | null {
  const next = pollTimes(settleMs).find((at) => at > ageMs);
  return next === undefined ? null : next - ageMs;
}
