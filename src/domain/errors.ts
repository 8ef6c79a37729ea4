/** Codes a caller may switch on. One union, so that a new code is a conscious act. */
export type LoteErrorCode =
  | 'configuration-invalid'
  | 'usage'
  | 'file-unreadable'
  | 'file-changed'
  | 'folder-unusable'
  | 'input-unusable'
  | 'ledger-unavailable'
  | 'ledger-foreign'
  | 'application-foreign'
  | 'application-mismatch'
  | 'application-missing'
  | 'ledger-conflict'
  | 'ledger-race'
  | 'claim-lost'
  | 'batch-not-found'
  | 'transition-refused'
  | 'report-unbalanced'
  | 'report-superseded'
  | 'service-unreachable'
  | 'service-unauthorized'
  | 'service-list-unreadable'
  | 'interlock'
  | 'message-unsent'
  | 'message-refused'
  | 'temporal-unavailable'
  | 'worker-missing'
  | 'port-taken'
  | 'data-directory-owned'
  | 'owner-leaving'
  | 'checks-busy'
  | 'interrupted'
  | 'internal';

/**
 * An error that says what was attempted, what must hold, what was found and what to do next.
 * The message must never hold a secret, a name or a tax number: it may end in a log or in Temporal's history.
 */
export class LoteError extends Error {
  readonly code: LoteErrorCode;

  constructor(code: LoteErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'LoteError';
    this.code = code;
  }
}
