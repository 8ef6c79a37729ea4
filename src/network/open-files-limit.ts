import { readFileSync } from 'node:fs';

/** A batch of thousands of invoices with everything embedded has up to 400 files and connections open at a time. */
const FILES_OF_A_BATCH = 400;
/** A service delivers over a few dozen. */
const LEAST_CONNECTIONS = 100;
const LIMIT = /^Max open files +(?<limit>\d+) /m;

/** How many files and connections this process may have open at a time; null: nobody tells (only Linux does), or any number. */
export function openFilesLimit(): number | null {
  const limit = LIMIT.exec(ownLimits())?.groups?.['limit'];
  return limit === undefined ? null : Number(limit);
}

/**
 * How many connections a server may hold at a time, `wanted` at most: so many that the rest of the process still gets its
 * files, and a hundred in any case.
 */
export function connectionsAtMost(wanted: number): number {
  const limit = openFilesLimit();
  return limit === null ? wanted : Math.min(wanted, Math.max(LEAST_CONNECTIONS, limit - FILES_OF_A_BATCH));
}

function ownLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return '';
  }
}
