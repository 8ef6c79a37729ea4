export function isoTime(epochMs: number): string;
export function isoTime(epochMs: number | null): string | null;
/** Returns epoch milliseconds of the ledger as ISO 8601 in UTC. */
export function isoTime(epochMs: number | null): string | null {
  return epochMs === null ? null : new Date(epochMs).toISOString();
}
