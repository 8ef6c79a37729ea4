/** Codes that a caller may switch on. They form one union, so that a new code is a deliberate act. */
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
  | 'interrupted'
  | 'internal';

/**
 * An error whose message says what was attempted, what must hold, what was found and what to do next. The message must
 * never hold a secret, a name or a tax number, because it may end in a log or in Temporal's history.
 */
export class LoteError extends Error {
  readonly code: LoteErrorCode;

  constructor(code: LoteErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'LoteError';
    this.code = code;
  }
}

/** True if the ledger is unavailable at the moment, so that the caller may try again. */
export function isLedgerAway(error: unknown): boolean {
  return error instanceof LoteError && error.code === 'ledger-unavailable';
}
