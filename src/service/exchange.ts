import type { Dispatcher } from 'undici';
import { causeCode } from '../platform/error-code.ts';
import {
  readBody,
  readHeaders,
  type AnswerBody,
  type AnswerHeaders,
  type ExchangeResult,
  type UnreadableBody,
} from './exchange-result.ts';
import { retryAfterMs } from './limits/backoff.ts';
import type { DeparturePermit } from '../domain/records/service-answers.ts';

/** Some services repeat the whole invoice in the answer that has its id. A longer answer is a mistake or an attack. */
export const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

export interface ExchangeRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string | null;
}

export interface ExchangeLimits {
  /** From the dispatch to the last byte of the answer. Ends slow drips that no other time-out ends. */
  readonly totalMs: number;
  /** The API key. A service may quote it in an error, and Lote must hide it in every reason. */
  readonly secret: string;
  readonly now: () => number;
  readonly signal: AbortSignal | undefined;
  /** Ends a request that has not left yet; a request that has left ends by itself. */
  readonly permit?: DeparturePermit | undefined;
}

/**
 * Runs one HTTP exchange; always resolves, never throws. Uses undici's `dispatch` rather than `request`, because only
 * the handler learns the moment before the first byte is written: that moment, not an error's name, divides "nothing
 * was sent" from "it may have arrived". Follows no redirects and decompresses nothing.
 */
export function exchange(
  dispatcher: Dispatcher,
  request: ExchangeRequest,
  limits: ExchangeLimits,
): Promise<ExchangeResult> {
  if (limits.signal?.aborted === true) return Promise.resolve(notSent('cancelled'));
  const withdrawn = limits.permit?.withdrawn;
  if (withdrawn?.aborted === true) return Promise.resolve({ kind: 'not-permitted' });
  return new Promise<ExchangeResult>((resolve) => {
    const handler = new ExchangeHandler(limits, settle);
    const timer = setTimeout(() => handler.stop('answer-timeout'), limits.totalMs);
    const onAbort = (): void => handler.stop('cancelled');
    const onWithdrawal = (): void => handler.withdraw();
    limits.signal?.addEventListener('abort', onAbort, { once: true });
    withdrawn?.addEventListener('abort', onWithdrawal, { once: true });

    function settle(end: ExchangeResult): void {
      clearTimeout(timer);
      limits.signal?.removeEventListener('abort', onAbort);
      withdrawn?.removeEventListener('abort', onWithdrawal);
      resolve(end);
    }

    try {
      dispatcher.dispatch(request, handler);
    } catch (error) {
      handler.onResponseError(undefined, error);
    }
  });
}

function notSent(code: string): ExchangeResult {
  return { kind: 'not-sent', code, retryAfterMs: null };
}

interface StatusLine {
  readonly status: number;
  readonly retryAfterMs: number | null;
  readonly encoded: boolean;
  readonly headers: AnswerHeaders;
}

/** Follows one exchange: queued, started (bytes may have left), status line, body, ended. */
class ExchangeHandler implements Dispatcher.DispatchHandler {
  readonly #limits: ExchangeLimits;
  readonly #settle: (end: ExchangeResult) => void;
  #controller: Dispatcher.DispatchController | null = null;
  #statusLine: StatusLine | null = null;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #ended = false;

  constructor(limits: ExchangeLimits, settle: (end: ExchangeResult) => void) {
    this.#limits = limits;
    this.#settle = settle;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Connecting takes time, so the permit may have ended meanwhile.
    if (this.#limits.permit?.isValid() === false) this.#end({ kind: 'not-permitted' });
    this.#controller = controller;
    // The request ended while it was queued. undici checks for an abort right after this call, before it writes.
    if (this.#ended) controller.abort(new Error('given up before it was sent'));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // A 1xx answer is interim: the real status line comes later.
    if (status < 200) return;
    const encoding = first(headers['content-encoding'])?.trim().toLowerCase() ?? '';
    this.#statusLine = {
      status,
      retryAfterMs: retryAfterMs(first(headers['retry-after']), this.#limits.now()),
      encoded: encoding !== '' && encoding !== 'identity',
      headers,
    };
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#ended) return;
    this.#bytes += chunk.byteLength;
    if (this.#statusLine?.encoded === true) this.#finish('encoded');
    else if (this.#bytes > MAX_ANSWER_BYTES) this.#finish('oversize');
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    this.#finish(null);
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: unknown): void {
    if (this.#controller === null) this.#end(notSent(connectFailure(error)));
    else if (this.#statusLine === null) this.#end({ kind: 'broken', code: brokenExchange(error) });
    else this.#finish('cut-short');
  }

  /** Ends the request because its permit is over. Does nothing once bytes may have left. */
  withdraw(): void {
    if (this.#controller === null) this.#end({ kind: 'not-permitted' });
  }

  /** Ends the exchange because its time is over or the caller cancelled it. */
  stop(code: string): void {
    if (this.#controller === null) this.#end(notSent(code === 'cancelled' ? code : 'connect-timeout'));
    else if (this.#statusLine === null) this.#end({ kind: 'broken', code });
    else this.#finish('cut-short');
  }

  /** Ends the exchange after a status line. `spoilt` says why Lote must not read the body; null: Lote may read it. */
  #finish(spoilt: UnreadableBody | null): void {
    const line = this.#statusLine;
    if (line === null) return this.#end({ kind: 'broken', code: 'answer-broken' });
    const body: AnswerBody =
      spoilt === null && !line.encoded
        ? readBody(Buffer.concat(this.#chunks), this.#limits.secret)
        : { kind: 'unreadable', why: spoilt ?? 'encoded' };
    const { status, retryAfterMs: pause } = line;
    const headers = readHeaders(line.headers, this.#limits.secret);
    this.#end({ kind: 'answer', status, retryAfterMs: pause, body, headers });
    if (spoilt !== null) this.#controller?.abort(new Error('the rest of the answer is not wanted'));
  }

  #end(end: ExchangeResult): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#chunks = [];
    this.#settle(end);
    if (end.kind === 'broken') this.#controller?.abort(new Error('no longer waited for'));
  }
}

function first(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

/** Stable codes for errors that end a request before its first byte has left. */
const CODES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection-refused',
  ENOTFOUND: 'name-not-resolved',
  EAI_AGAIN: 'name-not-resolved',
  UND_ERR_CONNECT_TIMEOUT: 'connect-timeout',
  ETIMEDOUT: 'connect-timeout',
  EHOSTUNREACH: 'host-unreachable',
  ENETUNREACH: 'host-unreachable',
  ECONNRESET: 'connection-reset-early',
  EPIPE: 'connection-reset-early',
  UND_ERR_SOCKET: 'connection-reset-early',
};

/** The code of any other such error. It concerns one request: an earlier one of the same invoice may have left. */
export const REQUEST_NOT_SENT = 'request-not-sent';

/** OpenSSL's and Node's codes of a failed handshake; each proves that no request was written. */
const TLS = /^(?:ERR_TLS_|ERR_SSL_|EPROTO$|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/;

/** Names the failure of a request that never started. Use it only if that is proved: a later reset is no such proof. */
export function connectFailure(error: unknown): string {
  const code = causeCode(error);
  if (TLS.test(code)) return 'tls-refused';
  return CODES[code] ?? REQUEST_NOT_SENT;
}

/** Names how an exchange broke after its first byte may have left. */
export function brokenExchange(error: unknown): string {
  const code = causeCode(error);
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') return 'answer-timeout';
  if (code === 'ECONNRESET' || code === 'EPIPE' || code === 'UND_ERR_SOCKET') return 'connection-reset';
  return 'answer-broken';
}
