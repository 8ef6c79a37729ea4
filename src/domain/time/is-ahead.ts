/** Clocks of the processes of one ledger differ by less: each is at most 30 s from the database's. */
export const CLOCKS_DIFFER_MS = 2 * 60_000;

/**
 * True if a stored instant (epoch milliseconds) is in the future: a clock that ran ahead wrote it and was set back
 * since. A wait that began then is over, and an action that is safe only for a while after it is no longer safe.
 */
export function isAhead(at: number, now: number): boolean {
  return at > now + CLOCKS_DIFFER_MS;
}

/** Returns the milliseconds since a stored instant, or Infinity if the instant is in the future. */
export function ageOf(at: number, now: number): number {
  return isAhead(at, now) ? Infinity : now - at;
}
