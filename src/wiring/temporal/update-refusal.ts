import type { WorkflowUpdateFailedError } from '@temporalio/client';
import { LoteError } from '../../domain/errors.ts';

/** An update that its workflow did not take; the validator's own sentence says what it wanted. */
export function updateRefusal(attempted: string, error: WorkflowUpdateFailedError): LoteError {
  const said = error.cause instanceof Error ? error.cause.message : 'no reason was given';
  return new LoteError('usage', `${attempted} was refused: ${said}`, { cause: error });
}
