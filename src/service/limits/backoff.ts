import { LONGEST_HOLD_MS } from '../../domain/request-rate.ts';
import type { ServiceProfile } from '../profile/profile.ts';
import { readPlace } from '../profile/place.ts';
import { documentOf, type ExchangeResult } from '../exchange-result.ts';
import { look, type CreationShape } from '../seen-answer.ts';

const SECONDS = /^\d+(?:\.\d+)?$/;
/** Date.parse reads almost anything, `-5` for one: only what begins like an HTTP date is one. */
const HTTP_DATE = /^(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? /i;

/** A Retry-After on these speaks of the service as a whole; on a 409 it speaks of one key. */
export const HOLDING_STATUSES: ReadonlySet<number> = new Set([425, 429, 500, 502, 503, 504]);
const TOO_MANY = 429;
const CONFLICT = 409;
/** From here on the service has its own trouble: such an answer does not prove that it took the request. */
const SERVER_TROUBLE = 500;

type Answer = Extract<ExchangeResult, { kind: 'answer' }>;

/** What an answer asks of all requests to the service. */
export interface Backoff {
  /** `taken`: the service took the request; `too-many`: it refused it because too many come; null: neither. */
  readonly load: 'taken' | 'too-many' | null;
  /** How long no request may leave, in milliseconds; null: the answer does not say. */
  readonly holdMs: number | null;
}

/** Reads what an answer asks of all requests. A rule of the profile that says `later` counts as a 429. */
export function backoffOf(answer: Answer, shape: CreationShape): Backoff {
  const hasRules = shape.answers.rules.length > 0 || shape.answers.status !== null;
  const { status, meaning } = hasRules ? look(answer, shape) : { status: answer.status, meaning: null };
  const isLater = meaning === 'later' && status !== CONFLICT;
  const isHeld = isLater || HOLDING_STATUSES.has(status);
  const isTooMany = isLater || (meaning === null && status === TOO_MANY);
  const load = isTooMany ? 'too-many' : status < SERVER_TROUBLE ? 'taken' : null;
  return { load, holdMs: isHeld ? answer.retryAfterMs : null };
}

/** The answer with the time to wait that the profile finds in it, where `Retry-After` names none. */
export function withProfileWait(answer: Answer, { wait }: ServiceProfile['answers'], now: number): Answer {
  if (wait === null || answer.retryAfterMs !== null) return answer;
  const value = Number(readPlace(documentOf(answer), wait.at) ?? Number.NaN);
  if (!Number.isFinite(value)) return answer;
  const ms = value * 1_000;
  return { ...answer, retryAfterMs: capped(wait.unit === 'seconds' ? ms : ms - now) };
}

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
