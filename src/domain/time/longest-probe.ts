/** The next probe of a service in trouble is never further away, in milliseconds. */
export const LONGEST_PROBE_MS = 60_000;
