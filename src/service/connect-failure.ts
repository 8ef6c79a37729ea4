import { causeCode } from '../platform/error-code.ts';

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

/**
 * An interim answer "100 Continue" that Lote did not ask for. undici then ends the connection before the real answer,
 * so that no request gets one. Only this separate code tells the operator why.
 */
export const UNEXPECTED_CONTINUE = 'unexpected-100-continue';

/** Names how an exchange broke after its first byte may have left. */
export function brokenExchange(error: unknown): string {
  const code = causeCode(error);
  // While a request runs, undici says "bad response" only in this case; otherwise only on an idle connection.
  const isContinue = code === 'UND_ERR_SOCKET' && error instanceof Error && error.message === 'bad response';
  if (isContinue) return UNEXPECTED_CONTINUE;
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') return 'answer-timeout';
  if (code === 'ECONNRESET' || code === 'EPIPE' || code === 'UND_ERR_SOCKET') return 'connection-reset';
  return 'answer-broken';
}
