import { ApplicationFailure } from '@temporalio/workflow';

/** What a validator throws. The UI prints the stack of a rejected update, with our source paths: of no use to an operator. */
export function refusedUpdate(message: string): ApplicationFailure {
  const failure = ApplicationFailure.nonRetryable(message, 'input-invalid');
  delete failure.stack;
  return failure;
}
