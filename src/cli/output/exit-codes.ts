import { LoteError, type LoteErrorCode } from '../../domain/errors.ts';

/** Exit codes of the commands; `docs/exit-codes.md` explains each. */
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

/** Exit code of an error: `usage` for a mistake of the caller, `interrupted` for Ctrl-C, else `unreachable`. */
export function exitCodeOf(error: unknown): ExitCode {
  return error instanceof LoteError ? (OF_ERROR[error.code] ?? EXIT.unreachable) : EXIT.unreachable;
}
