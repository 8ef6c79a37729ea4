import { LoteError } from '../../domain/errors.ts';
import type { LoteErrorCode } from '../../domain/errors.ts';

export interface ShownError {
  readonly code: string;
  readonly message: string;
  readonly status: 400 | 404 | 500 | 503;
}

/** The message of a LoteError is made to be read by anyone; another one may hold what must not leave the process. */
export function shownError(error: Error, otherwise: string): ShownError {
  if (!(error instanceof LoteError)) return { code: 'internal', message: otherwise, status: 500 };
  const { code, message } = error;
  return { code, message, status: STATUS_BY_CODE[code] ?? 500 };
}

const STATUS_BY_CODE: Partial<Record<LoteErrorCode, 400 | 404 | 503>> = {
  usage: 400,
  'file-unreadable': 400,
  'file-changed': 400,
  'transition-refused': 400,
  'configuration-invalid': 400,
  'batch-not-found': 404,
  'ledger-unavailable': 503,
  'folder-unusable': 503,
  'input-unusable': 503,
  'temporal-unavailable': 503,
  'service-unreachable': 503,
  'service-unauthorized': 503,
  'service-list-unreadable': 503,
  'worker-missing': 503,
  'owner-leaving': 503,
  'checks-busy': 503,
};
