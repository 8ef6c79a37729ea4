import { LoteError, type LoteErrorCode } from '../../domain/errors.ts';

export const EXIT = { ok: 0, someNotIssued: 1, refused: 2, unreachable: 3, usage: 64, interrupted: 130 } as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

const OF_ERROR: Readonly<Partial<Record<LoteErrorCode, ExitCode>>> = {
  usage: EXIT.usage,
  'configuration-invalid': EXIT.usage,
  'file-unreadable': EXIT.usage,
  'batch-not-found': EXIT.usage,
  interrupted: EXIT.interrupted,
};

/** Whatever is not the caller's mistake is something needed that cannot be had. */
export function exitCodeOf(error: unknown): ExitCode {
  return error instanceof LoteError ? (OF_ERROR[error.code] ?? EXIT.unreachable) : EXIT.unreachable;
}
