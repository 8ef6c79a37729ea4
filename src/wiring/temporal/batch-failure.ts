import { ApplicationFailure, WorkflowFailedError } from '@temporalio/client';
import { LoteError, type LoteErrorCode } from '../../domain/errors.ts';

/** The error a failed run ended with, in Lote's own words: the failures it is wrapped in say nothing to an operator. */
export function batchFailure(error: unknown): unknown {
  if (!(error instanceof WorkflowFailedError)) return error;
  for (let cause: unknown = error.cause; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof ApplicationFailure && cause.type !== null && cause.type !== undefined) {
      return new LoteError(cause.type as LoteErrorCode, cause.message, { cause: error });
    }
  }
  return new LoteError('internal', `The run ended without a result: ${error.cause?.message ?? error.message}`, {
    cause: error,
  });
}
