import { isGrpcServiceError } from '@temporalio/client';
import { LoteError } from '../../domain/errors.ts';

/** What the Temporal server answered to a call that it did not do. */
export interface TemporalRefusal {
  /** See `GRPC_STATUS`. */
  readonly code: number;
  /** Code and words, as `4 DEADLINE_EXCEEDED: context deadline exceeded`. */
  readonly message: string;
}

/** The server's answer among the causes of an error; null: the server gave none. */
export function temporalRefusal(error: unknown): TemporalRefusal | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (isGrpcServiceError(cause)) return cause;
  return null;
}

/** What a command says where the server did not do what it was asked; null: the error is of another kind. */
export function temporalFailure(error: unknown): LoteError | null {
  const refusal = temporalRefusal(error);
  if (refusal === null) return null;
  return new LoteError(
    'temporal-unavailable',
    `Asking the Temporal server: it must do what it is asked, but it answered ${JSON.stringify(refusal.message)}. ` +
      'It may be done all the same: look at the Temporal UI, or with `lote status`, before you repeat the command.',
    { cause: error },
  );
}

/** The codes of gRPC that Lote tells apart: https://grpc.io/docs/guides/status-codes/. */
export const GRPC_STATUS = {
  cancelled: 1,
  deadlineExceeded: 4,
  notFound: 5,
  permissionDenied: 7,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;
