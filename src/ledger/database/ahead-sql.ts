import { CLOCKS_DIFFER_MS } from '../../domain/time/is-ahead.ts';

/** That an instant has not come yet at `now` (both SQL expressions): as `isAhead`. */
export function isAheadSql(at: string, now: string): string {
  return `(${at} > (${now})::bigint + ${CLOCKS_DIFFER_MS})`;
}
