import { z } from 'zod';
import type { Reason } from '../domain/invoice.ts';
import type { CreateAnswer } from '../domain/ports/invoicing-service.ts';
import type { ExchangeResult } from './exchange-result.ts';
import { readPointer } from '../domain/json-pointer.ts';
import { reasonText, statusReason } from './reason-text.ts';

/** An invoice's id as published: its prefix, then characters that are safe in a path. */
export const InvoiceId = z.string().regex(/^inv_[A-Za-z0-9_-]{1,250}$/);

/** A merchant's id as published. */
export const MerchantId = z.string().regex(/^mrc_[A-Za-z0-9_-]{1,250}$/);

/** Where a created thing's id and an error's words stand, from the service profile. */
export interface CreationShape {
  readonly id: string;
  /** InvoiceId or MerchantId. */
  readonly idSchema: z.ZodType<string>;
  readonly errorCode: string;
  readonly errorMessage: string;
  readonly mismatchCodes: readonly string[];
}

/** One line of the table: the first line that applies decides. */
export interface ClassificationRow {
  readonly when: string;
  readonly applies: (seen: Seen) => boolean;
  readonly answer: (seen: Seen) => CreateAnswer;
}

/** An ended exchange with what the profile finds in it. */
export interface Seen {
  readonly end: ExchangeResult;
  /** 0 when no status line came. */
  readonly status: number;
  readonly json: unknown;
  /** Text under the profile's id place; null when there is none. */
  readonly id: string | null;
  readonly idUsable: boolean;
  readonly errorCode: unknown;
  readonly errorMessage: unknown;
  readonly mismatch: boolean;
}

/** HTTP says of these that the request was not and will not be carried out as it stands. A list, so that a status nobody thought of is never a refusal. */
const DEFINITIVE = new Set([
  400, 402, 404, 405, 406, 410, 411, 412, 413, 414, 415, 416, 417, 418, 422, 424, 426, 428, 431, 451,
]);

/** Asked to identify itself better: Lote's trouble with the service (or a proxy), never one invoice's. */
const ACCESS_DENIED_STATUSES = new Set([401, 403, 407]);

/**
 * What the end of a creating POST proves (DESIGN, Sending). Two mistakes would be fatal: to call a failure what may
 * have been created, and to call a success what was not; so everything unknown is `lost`, which repeats the same key
 * and bytes. The content type is not judged: the body is JSON with an id, or it is not.
 */
export const CLASSIFICATION: readonly ClassificationRow[] = [
  { when: 'no byte left this process', applies: (s) => s.end.kind === 'not-sent', answer: notSent },
  {
    when: 'its permit was over before a byte left',
    applies: (s) => s.end.kind === 'not-permitted',
    answer: () => ({ kind: 'not-permitted' }),
  },
  { when: 'the exchange broke after bytes may have left', applies: (s) => s.end.kind === 'broken', answer: broken },
  {
    when: '2xx with a usable id',
    applies: (s) => is2xx(s) && s.idUsable,
    answer: (s) => ({ kind: 'created', serviceId: s.id ?? '' }),
  },
  {
    when: '2xx with an id of another kind',
    applies: (s) => is2xx(s) && s.id !== null,
    answer: (s) => lost(s, 'answer-id-unusable'),
  },
  {
    when: '2xx that is JSON without an id',
    applies: (s) => is2xx(s) && isJson(s),
    answer: (s) => lost(s, 'answer-without-id'),
  },
  { when: '2xx that cannot be read', applies: is2xx, answer: (s) => lost(s, 'answer-unreadable') },
  {
    when: '3xx: never followed, the key goes nowhere else; a 303 answers a POST that worked',
    applies: (s) => within(s, 300, 399),
    answer: (s) => accessDenied(s, { code: 'redirect', mayExist: true }),
  },
  {
    when: 'an error code that says the key is known with other bytes',
    applies: (s) => s.mismatch,
    answer: keyMismatch,
  },
  {
    when: 'an error status with a usable id: it contradicts itself',
    applies: (s) => s.idUsable,
    answer: (s) => lost(s, 'answer-contradictory'),
  },
  {
    when: '401, 403, 407',
    applies: (s) => ACCESS_DENIED_STATUSES.has(s.status),
    answer: (s) => accessDenied(s, { code: `http-${s.status}`, mayExist: false }),
  },
  { when: '425, 429', applies: (s) => s.status === 425 || s.status === 429, answer: notNow },
  {
    when: 'a definitive 4xx with an error where the profile says that the service puts it',
    applies: (s) => DEFINITIVE.has(s.status) && saysError(s),
    answer: (s) => ({ kind: 'refused', reason: reason(s) }),
  },
  {
    when: 'a definitive 4xx that is not known to be the service speaking (HTML, empty, cut short, JSON of a gateway)',
    applies: (s) => DEFINITIVE.has(s.status),
    answer: unreadableNo,
  },
  { when: '408, 409, 5xx and every status not named above', applies: () => true, answer: (s) => lost(s, null) },
];

/** What the end of a creating POST proves; see CLASSIFICATION. */
export function classify(end: ExchangeResult, shape: CreationShape): CreateAnswer {
  const seen = look(end, shape);
  const row = CLASSIFICATION.find((candidate) => candidate.applies(seen));
  return row === undefined ? lost(seen, null) : row.answer(seen);
}

/** Reads an ended exchange by the profile. */
export function look(end: ExchangeResult, shape: CreationShape): Seen {
  const json = end.kind === 'answer' && end.body.kind === 'json' ? end.body.value : undefined;
  const id = readPointer(json, shape.id);
  const errorCode = readPointer(json, shape.errorCode);
  return {
    end,
    status: end.kind === 'answer' ? end.status : 0,
    json,
    id: typeof id === 'string' ? id : null,
    idUsable: shape.idSchema.safeParse(id).success,
    errorCode,
    errorMessage: readPointer(json, shape.errorMessage),
    mismatch:
      end.kind === 'answer' &&
      within({ status: end.status }, 400, 499) &&
      typeof errorCode === 'string' &&
      shape.mismatchCodes.includes(errorCode),
  };
}

function is2xx(seen: Seen): boolean {
  return within(seen, 200, 299);
}

function within(seen: Pick<Seen, 'status'>, from: number, to: number): boolean {
  return seen.status >= from && seen.status <= to;
}

function isJson(seen: Seen): boolean {
  return seen.end.kind === 'answer' && seen.end.body.kind === 'json';
}

/** Gateways answer 404 and 413 in JSON of their own, whatever became of the request behind them. */
function saysError(seen: Seen): boolean {
  return [seen.errorCode, seen.errorMessage].some((said) => typeof said === 'string' && said.trim() !== '');
}

function retryAfter(seen: Seen): number | null {
  return 'retryAfterMs' in seen.end ? seen.end.retryAfterMs : null;
}

function reason(seen: Seen): Reason {
  const unreadable =
    seen.end.kind === 'answer' && seen.end.body.kind === 'unreadable' ? `answer ${seen.end.body.why}` : null;
  return statusReason(seen.status, { code: seen.errorCode, message: unreadable ?? seen.errorMessage });
}

function notSent(seen: Seen): CreateAnswer {
  const code = seen.end.kind === 'not-sent' ? seen.end.code : 'not-sent';
  return {
    kind: 'not-now',
    reason: { code, message: reasonText(`The request was not sent (${code})`) },
    retryAfterMs: retryAfter(seen),
  };
}

function broken(seen: Seen): CreateAnswer {
  const code = seen.end.kind === 'broken' ? seen.end.code : 'answer-lost';
  return {
    kind: 'lost',
    reason: { code, message: reasonText(`The request may have arrived and no answer came (${code})`) },
    retryAfterMs: null,
  };
}

function notNow(seen: Seen): CreateAnswer {
  return { kind: 'not-now', reason: reason(seen), retryAfterMs: retryAfter(seen) };
}

function keyMismatch(seen: Seen): CreateAnswer {
  return { kind: 'key-mismatch', reason: { code: 'key-known-with-other-bytes', message: reason(seen).message } };
}

/** The code is Lote's own, whatever the service calls it: callers tell 403 from 401 by it. */
function accessDenied(
  seen: Seen,
  { code, mayExist }: { readonly code: string; readonly mayExist: boolean },
): CreateAnswer {
  const { message } = reason(seen);
  return { kind: 'access-denied', reason: { code, message }, retryAfterMs: retryAfter(seen), mayExist };
}

function unreadableNo(seen: Seen): CreateAnswer {
  const answer = lost(seen, `http-${seen.status}-unreadable`);
  if (answer.kind !== 'lost' || !isJson(seen)) return answer;
  const message = `HTTP ${seen.status}: no text at the places error.code and error.message of the service profile`;
  return { ...answer, reason: { ...answer.reason, message } };
}

function lost(seen: Seen, code: string | null): CreateAnswer {
  const said = reason(seen);
  return { kind: 'lost', reason: { code: code ?? said.code, message: said.message }, retryAfterMs: retryAfter(seen) };
}
