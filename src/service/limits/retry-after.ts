import { LONGEST_HOLD_MS } from '../../domain/request-rate.ts';

const SECONDS = /^\d+(?:\.\d+)?$/;
/** Date.parse reads almost anything, `-5` for one: only what begins like an HTTP date is one. */
const HTTP_DATE = /^(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? /i;

/** Milliseconds to wait by a Retry-After header (seconds or HTTP date, RFC 9110), capped; null when absent or unreadable. */
export function retryAfterMs(header: string | undefined, now: number): number | null {
  const text = header?.trim() ?? '';
  if (SECONDS.test(text)) return capped(Number(text) * 1_000);
  if (!HTTP_DATE.test(text)) return null;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : capped(at - now);
}

function capped(ms: number): number {
  return Math.min(Math.max(Math.ceil(ms), 0), LONGEST_HOLD_MS);
}

/** A Retry-After on these speaks of the service as a whole; on a 409 it speaks of one key. */
export const HOLDING_STATUSES: ReadonlySet<number> = new Set([425, 429, 500, 502, 503, 504]);
