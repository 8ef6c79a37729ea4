/** Stable words for errors that end a request before its first byte left. */
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

/** Of an error without such a word. It is of one request: another of the same invoice may have left before it. */
export const REQUEST_NOT_SENT = 'request-not-sent';

/** OpenSSL's and Node's names of a handshake that failed; each is proof that no request was written. */
const TLS = /^(?:ERR_TLS_|ERR_SSL_|EPROTO$|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/;

/** Names the failure of a request that never started. Use it only where that is proved: a reset, for one, means something else later. */
export function connectFailure(error: unknown): string {
  const code = errorCode(error);
  if (TLS.test(code)) return 'tls-refused';
  return CODES[code] ?? REQUEST_NOT_SENT;
}

/**
 * An interim answer "100 Continue" that no request asked for, at which undici ends the connection before the answer comes. So
 * no request ever gets one, and only its own word tells people why.
 */
export const UNEXPECTED_CONTINUE = 'unexpected-100-continue';

/** Names how an exchange broke after its first byte may have left. */
export function brokenExchange(error: unknown): string {
  const code = errorCode(error);
  if (isUnexpectedContinue(error)) return UNEXPECTED_CONTINUE;
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') return 'answer-timeout';
  if (code === 'ECONNRESET' || code === 'EPIPE' || code === 'UND_ERR_SOCKET') return 'connection-reset';
  return 'answer-broken';
}

/** The only "bad response" of undici while a request runs; the other one is of a connection that carries none. */
function isUnexpectedContinue(error: unknown): boolean {
  return error instanceof Error && errorCode(error) === 'UND_ERR_SOCKET' && error.message === 'bad response';
}

function errorCode(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: unknown };
  return typeof code === 'string' ? code : errorCode(cause);
}
