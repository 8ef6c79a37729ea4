/** An invoice is polled at most this often. */
const MOST_POLLS = 6;
const LONGEST_FIRST_POLL_MS = 30_000;
/** The last poll comes just before the settle time ends: its answer must still be recorded. */
const LAST_POLL_SHARE = 0.95;
/** So often at the pace that the service profile sets; an engine that takes days is polled more and more rarely after that. */
const MOST_AT_PACE = 60;

/** Spans by which invoices are polled, in milliseconds. */
export interface PollPace {
  readonly settleMs: number;
  /** From one poll to the next, by the service profile; null: at the times of Lote. */
  readonly everyMs: number | null;
}

/**
 * When to poll a pending invoice, in ms after its acceptance, rising, and last just before the settle time ends. Lote's own
 * times begin after min(30 s, settle / 4), and each is twice as late as the one before.
 */
export function pollTimes({ settleMs, everyMs }: PollPace): readonly number[] {
  const first = Math.min(everyMs ?? LONGEST_FIRST_POLL_MS, settleMs / 4);
  const last = Math.max(first, settleMs * LAST_POLL_SHARE);
  const times: number[] = [];
  const next = (at: number): number => (everyMs === null || times.length >= MOST_AT_PACE ? at * 2 : at + first);
  const most = everyMs === null ? MOST_POLLS - 1 : Infinity;
  for (let at = first; at < last && times.length < most; at = next(at)) times.push(Math.round(at));
  times.push(Math.round(last));
  return times;
}

/** The last three polls go to every pending invoice, the earlier ones to a sample: an engine that is slow for all invoices must not get thousands of polls. */
const FEWEST_POLLS = 3;

/**
 * Whether the `poll`-th poll (from 1) goes to every pending invoice, not only to a sample. Each gets at least three, and at
 * the pace of the service profile all of them.
 */
export function pollsEveryInvoice(pace: PollPace, poll: number): boolean {
  return pace.everyMs !== null || poll > pollTimes(pace).length - FEWEST_POLLS;
}

/** How many times an invoice accepted `ageMs` ago should have been polled by now. */
export function pollsDue(pace: PollPace, ageMs: number): number {
  return pollTimes(pace).filter((at) => at <= ageMs).length;
}

/** The time until the next poll of an invoice accepted `ageMs` ago; null: none is left. */
export function nextPollInMs(pace: PollPace, ageMs: number): number | null {
  const next = pollTimes(pace).find((at) => at > ageMs);
  return next === undefined ? null : next - ageMs;
}
