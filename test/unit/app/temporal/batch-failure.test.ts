import {
  ActivityFailure,
  ApplicationFailure,
  ChildWorkflowFailure,
  TerminatedFailure,
  WorkflowFailedError,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { batchFailure } from '../../../../src/app/temporal/calls.ts';
import { exitCodeOf } from '../../../../src/cli/output/exit-codes.ts';
import { LoteError } from '../../../../src/domain/errors.ts';

const FAR =
  'Opening the input file "x.csv": it must be a readable file of the input directory, but there is no such file.';

function application(type: string | null, message = FAR): ApplicationFailure {
  return ApplicationFailure.create({ ...(type === null ? {} : { type }), message });
}

function inActivity(cause: Error): ActivityFailure {
  return new ActivityFailure('Activity task failed', 'ingestBatch', '1', 'NON_RETRYABLE_FAILURE', 'worker', cause);
}

function inChild(cause: Error): ChildWorkflowFailure {
  const run = { workflowId: 'w', runId: 'r' };
  return new ChildWorkflowFailure('default', run, 'invoicePage', 'NON_RETRYABLE_FAILURE', cause);
}

function failed(cause: Error | undefined): WorkflowFailedError {
  return new WorkflowFailedError('Workflow execution failed', cause, 'NON_RETRYABLE_FAILURE');
}

describe('the failure of a run', () => {
  it.each([
    ['as the workflow threw it', application('file-unreadable')],
    ['inside an activity’s failure', inActivity(application('file-unreadable'))],
    ['inside a child’s and an activity’s failure', inChild(inActivity(application('file-unreadable')))],
  ])('is told in Lote’s words, %s', (_, cause) => {
    const error = batchFailure(failed(cause));

    expect(error).toBeInstanceOf(LoteError);
    expect(error).toMatchObject({ code: 'file-unreadable', message: FAR });
    expect(exitCodeOf(error)).toBe(64);
  });

  it.each([
    ['it was terminated', failed(new TerminatedFailure('an operator ended it')), 'internal', 'an operator ended it'],
    ['no cause is known', failed(undefined), 'internal', 'The run ended without a result: Workflow execution failed'],
    ['Temporal has lost it', new WorkflowNotFoundError('', 'batch-1', ''), 'temporal-unavailable', 'the run batch-1: '],
  ])('has a code of its own when %s', (_, error, code, said) => {
    expect(batchFailure(error)).toMatchObject({ code, message: expect.stringContaining(said) as string });
  });

  it('is left alone when it is not one of a run', () => {
    for (const error of [new LoteError('interrupted', 'Interrupted'), new TypeError('x'), 'text'])
      expect(batchFailure(error)).toBe(error);
  });
});
