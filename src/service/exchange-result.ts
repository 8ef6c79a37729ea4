import { hideSecret } from './profile/hide-secret.ts';
import { parseExactJson, textOf } from './profile/exact-json.ts';
import type { Document } from './profile/place.ts';
import type { RequestOutcome } from '../domain/records/measures.ts';

/** Headers of an answer as received, by lower-case name. */
export type AnswerHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** How one HTTP exchange ended, before `classify` decides its meaning. */
export type ExchangeResult =
  /** A status line came. */
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly retryAfterMs: number | null;
      readonly body: AnswerBody;
      /** By lower-case name. */
      readonly headers?: AnswerHeaders;
      /** Values of the profile's expressions over this answer. Optional: the profile may have no expressions. */
      readonly computed?: ReadonlyMap<string, unknown>;
    }
  /** Proved that no byte of the request left this process. */
  | { readonly kind: 'not-sent'; readonly code: string; readonly retryAfterMs: number | null }
  /** No byte of the request left this process, because its permit was over. */
  | { readonly kind: 'not-permitted' }
  /** Bytes may have left and no status line came. */
  | { readonly kind: 'broken'; readonly code: string };

/** Returns the end of an exchange in one word, for the metrics. */
export function outcomeOf(end: ExchangeResult): RequestOutcome {
  if (end.kind === 'broken') return 'no-answer';
  if (end.kind !== 'answer') return 'not-sent';
  if (end.status === 429) return '429';
  if (end.status < 300) return '2xx';
  if (end.status < 400) return '3xx';
  return end.status < 500 ? '4xx' : '5xx';
}

/** The body of an answer: JSON with the API key hidden in its texts, or why Lote cannot read it. */
export type AnswerBody =
  | { readonly kind: 'json'; readonly value: unknown }
  | {
      readonly kind: 'unreadable';
      readonly why: UnreadableBody;
      /** The beginning of a text that is not JSON, with the API key hidden. */
      readonly text?: string;
    };

/**
 * Why Lote cannot read a body. `encoded`: the body has a content encoding; `oversize`: it is longer than Lote reads;
 * `cut-short`: the connection ended before the body; `not-evaluated`: an expression of the profile exceeded its limits.
 */
export type UnreadableBody = 'empty' | 'not-json' | 'encoded' | 'oversize' | 'cut-short' | 'not-evaluated';

/** The longest text that Lote keeps for an error, in characters. */
const MAX_TEXT = 2_000;

/** Reads an answer's bytes as JSON, with the secret hidden in every text. Invalid UTF-8 is `not-json`. */
export function readBody(bytes: Uint8Array, secret: string): AnswerBody {
  if (bytes.byteLength === 0) return { kind: 'unreadable', why: 'empty' };
  const text = textOf(bytes);
  if (text === null) return { kind: 'unreadable', why: 'not-json' };
  // JSON may write any character of the key as an escape; many services do so with `/` and `+`.
  const mayQuote = text.includes(secret) || text.includes('\\');
  try {
    return { kind: 'json', value: parseExactJson(text, mayQuote ? hiding(secret) : undefined) };
  } catch {
    const shown = mayQuote ? hideSecret(text, secret) : text;
    return { kind: 'unreadable', why: 'not-json', text: shown.slice(0, MAX_TEXT) };
  }
}

/** Returns the headers of an answer with the secret hidden: a profile may read the reason of a refusal from them. */
export function readHeaders(headers: AnswerHeaders, secret: string): AnswerHeaders {
  const texts = Object.values(headers).flat();
  if (!texts.some((text) => text?.includes(secret))) return headers;
  const hidden = (text: string): string => hideSecret(text, secret);
  return Object.fromEntries(
    Object.entries(headers).map(([name, said]) => [name, typeof said === 'string' ? hidden(said) : said?.map(hidden)]),
  );
}

/** Tells whether the body of an answer is damaged or encoded, so that it proves nothing. */
export function isSpoilt(end: ExchangeResult): boolean {
  return end.kind === 'answer' && end.body.kind === 'unreadable' && SPOILT.has(end.body.why);
}

/** Returns the document from which the places of the profile are read. A spoilt answer has only its status. */
export function documentOf(end: ExchangeResult): Document {
  if (end.kind !== 'answer') return { body: undefined };
  const { status, body, headers, computed } = end;
  if (isSpoilt(end)) return { body: undefined, status };
  return {
    body: body.kind === 'json' ? body.value : undefined,
    ...(body.kind === 'unreadable' && body.text !== undefined && !isPage(body.text) && { text: body.text }),
    ...{ status, ...(headers !== undefined && { headers }), ...(computed !== undefined && { computed }) },
  };
}

/** Tells whether a text is an HTML page: a gateway wrote it, not the service. */
export function isPage(text: string): boolean {
  return text.trimStart().startsWith('<');
}

const SPOILT: ReadonlySet<UnreadableBody> = new Set(['encoded', 'oversize', 'cut-short', 'not-evaluated']);

function hiding(secret: string): (key: string, value: unknown) => unknown {
  return (_key, value) => (typeof value === 'string' ? hideSecret(value, secret) : value);
}
