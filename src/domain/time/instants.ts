/** Milliseconds of a day of 24 hours; days on which a clock is changed have an hour more or less. */
export const DAY_MS = 24 * 60 * 60 * 1000;

/** Longest time until the next probe of a service in trouble, in milliseconds. */
export const LONGEST_PROBE_MS = 60_000;

export function isoTime(epochMs: number): string;
export function isoTime(epochMs: number | null): string | null;
/** Returns epoch milliseconds of the ledger as ISO 8601 in UTC. */
export function isoTime(epochMs: number | null): string | null {
  return epochMs === null ? null : new Date(epochMs).toISOString();
}

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
