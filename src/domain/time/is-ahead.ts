/** The clocks of the processes of one ledger differ by less: each by 30 s at most from that of its database. */
export const CLOCKS_DIFFER_MS = 2 * 60_000;

/**
 * Whether a stored instant (epoch milliseconds) has not come yet: a clock that ran ahead wrote it, and was set back since. The real time is not known: a wait
 * that begins there is over, and whatever is safe only for a while after it is not.
 */
export function isAhead(at: number, now: number): boolean {
  return at > now + CLOCKS_DIFFER_MS;
}

/** Milliseconds since a stored instant; endless if it has not come yet. */
export function ageOf(at: number, now: number): number {
  return isAhead(at, now) ? Infinity : now - at;
}
