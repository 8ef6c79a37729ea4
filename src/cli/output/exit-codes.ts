import type { BatchResult } from '../../domain/messages/messages.ts';
import { isEveryRowIssued } from '../../domain/outcome-counts.ts';
import { LoteError, type LoteErrorCode } from '../../domain/errors.ts';

/** Exit codes of the commands; `docs/operating.md#exit-codes` explains each. */
export const EXIT = { ok: 0, someNotIssued: 1, refused: 2, unreachable: 3, usage: 64, interrupted: 130 } as const;

/** One of the numbers of `EXIT`. */
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

const OF_ERROR: Readonly<Partial<Record<LoteErrorCode, ExitCode>>> = {
  usage: EXIT.usage,
  'configuration-invalid': EXIT.usage,
  'file-unreadable': EXIT.usage,
  'batch-not-found': EXIT.usage,
  interrupted: EXIT.interrupted,
};

/** Returns the exit code of an error: `usage` for a mistake of the caller, `interrupted` for Ctrl-C, otherwise `unreachable`. */
export function exitCodeOf(error: unknown): ExitCode {
  return error instanceof LoteError ? (OF_ERROR[error.code] ?? EXIT.unreachable) : EXIT.unreachable;
}

/**
 * Returns 0 only if every data row is in an issued invoice and the file has the declared control totals; a totals row
 * is not data. An invoice in doubt counts as issued: the output and the report name the doubt.
 */
export function batchExitCode(result: Pick<BatchResult, 'state' | 'counts' | 'totalsDiffer'>): ExitCode {
  if (result.state === 'refused') return EXIT.refused;
  return isEveryRowIssued(result) && result.state === 'finished' ? EXIT.ok : EXIT.someNotIssued;
}
