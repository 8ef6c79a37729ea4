/** Longest time until the next probe of a service in trouble, in milliseconds. */
export const LONGEST_PROBE_MS = 60_000;
