/** Most polls of an invoice at Lote's own times. */
const MOST_POLLS = 6;
const LONGEST_FIRST_POLL_MS = 30_000;
/** The last poll comes just before the settle time ends: its answer must still be recorded. */
const LAST_POLL_SHARE = 0.95;
/** Number of polls at the pace of the service profile. Later polls are rarer and rarer, because the service may take days. */
const MOST_AT_PACE = 60;

/** The time spans that decide when invoices are polled, in milliseconds. */
export interface PollPace {
  readonly settleMs: number;
  /** Time from one poll to the next by the service profile; null for Lote's own times. */
  readonly everyMs: number | null;
}

/**
 * Returns when to poll a pending invoice, in rising ms after its acceptance, the last just before the settle time ends.
 * Lote's own times begin after min(30 s, settle / 4), and each is twice as late as the one before.
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

/** The last three polls go to every pending invoice, the earlier ones to a sample, so that a slow service does not get thousands of polls. */
const FEWEST_POLLS = 3;

/**
 * True if the `poll`-th poll (from 1) goes to every pending invoice, not only to a sample. Each invoice gets at least
 * three polls, and at the pace of the service profile all of them.
 */
export function pollsEveryInvoice(pace: PollPace, poll: number): boolean {
  return pace.everyMs !== null || poll > pollTimes(pace).length - FEWEST_POLLS;
}

/** Returns how many times an invoice accepted `ageMs` ago should have been polled by now. */
export function pollsDue(pace: PollPace, ageMs: number): number {
  return pollTimes(pace).filter((at) => at <= ageMs).length;
}

/** Returns the milliseconds until the next poll of an invoice accepted `ageMs` ago; null if no poll is left. */
export function nextPollInMs(pace: PollPace, ageMs: number): number | null {
  const next = pollTimes(pace).find((at) => at > ageMs);
  return next === undefined ? null : next - ageMs;
}
