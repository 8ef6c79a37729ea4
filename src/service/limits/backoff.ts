import { LONGEST_HOLD_MS } from '../../domain/request-rate.ts';
import type { ServiceProfile } from '../profile/profile.ts';
import { readPlace } from '../profile/place.ts';
import { documentOf, type ExchangeResult } from '../exchange-result.ts';
import { look } from '../seen-answer.ts';

const SECONDS = /^\d+(?:\.\d+)?$/;
/** Date.parse reads almost anything, for example `-5`, so the text must begin like an HTTP date. */
const HTTP_DATE = /^(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? /i;

/** A Retry-After on these statuses concerns the whole service; on a 409 it concerns one key. */
export const HOLDING_STATUSES: ReadonlySet<number> = new Set([425, 429, 500, 502, 503, 504]);
const TOO_MANY = 429;
const CONFLICT = 409;
/** From this status on, the service is in trouble: the answer does not prove that the service took the request. */
const SERVER_TROUBLE = 500;

type Answer = Extract<ExchangeResult, { kind: 'answer' }>;

/**
 * Reads what an answer demands of all requests to the service. A rule of the profile that says `later` counts as a 429.
 * `load` says whether the service took the request, refused it as one too many, or neither (null). `holdMs` is how long
 * no request may leave, in milliseconds; null if the answer names no time.
 */
export function backoffOf(answer: Answer, profile: ServiceProfile) {
  const { rules, status: place } = profile.answers;
  const hasRules = rules.length > 0 || place !== null;
  const { status, meaning } = hasRules ? look(answer, profile, null) : { status: answer.status, meaning: null };
  const isLater = meaning === 'later' && status !== CONFLICT;
  const isHeld = isLater || HOLDING_STATUSES.has(status);
  const isTooMany = isLater || (meaning === null && status === TOO_MANY);
  const load = isTooMany ? ('too-many' as const) : status < SERVER_TROUBLE ? ('taken' as const) : null;
  return { load, holdMs: isHeld ? answer.retryAfterMs : null };
}

/** Adds to an answer without `Retry-After` the waiting time that the profile finds in it. */
export function withProfileWait(answer: Answer, { wait }: ServiceProfile['answers'], now: number): Answer {
  if (wait === null || answer.retryAfterMs !== null) return answer;
  const value = Number(readPlace(documentOf(answer), wait.at) ?? Number.NaN);
  if (!Number.isFinite(value)) return answer;
  const ms = value * 1_000;
  return { ...answer, retryAfterMs: capped(wait.unit === 'seconds' ? ms : ms - now) };
}

/** Reads a Retry-After header (seconds or HTTP date, RFC 9110) as capped milliseconds; null if absent or unreadable. */
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
