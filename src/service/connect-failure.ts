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

/** Names how an exchange broke after its first byte may have left. */
export function brokenExchange(error: unknown): string {
  const code = errorCode(error);
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') return 'answer-timeout';
  if (code === 'ECONNRESET' || code === 'EPIPE' || code === 'UND_ERR_SOCKET') return 'connection-reset';
  return 'answer-broken';
}

function errorCode(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: unknown };
  return typeof code === 'string' ? code : errorCode(cause);
}
