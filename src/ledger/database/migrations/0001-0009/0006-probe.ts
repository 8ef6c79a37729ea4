/** One request at a time tries a service that was away; the others look again soon instead of waiting for its turn to run out. */
export const PROBE_TURN: readonly string[] = ['ALTER TABLE breaker ADD COLUMN probing_until bigint'];
