import { ApplicationFailure, WorkflowFailedError, WorkflowNotFoundError } from '@temporalio/client';
import { LoteError, type LoteErrorCode } from '../../domain/errors.ts';

/** The error a failed run ended with, in Lote's own words: the failures it is wrapped in say nothing to an operator. */
export function batchFailure(error: unknown): unknown {
  if (error instanceof WorkflowNotFoundError) return runLost(error);
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

function runLost(cause: WorkflowNotFoundError): LoteError {
  return new LoteError(
    'temporal-unavailable',
    `Waiting for the run ${cause.workflowId}: the Temporal server must know it, and does not; it was deleted, or the server lost its data. The ledger has what was sent: \`lote status\` shows it, and the same command goes on with the rest.`,
    { cause },
  );
}
