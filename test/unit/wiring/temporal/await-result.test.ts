import { WorkflowFailedError, WorkflowNotFoundError } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { awaitResult } from '../../../../src/wiring/temporal/await-result.ts';
import type { BatchResult } from '../../../../src/contract/messages.ts';

const RESULT: BatchResult = {
  ...{ batchId: 'batch-1', file: 'a.csv', state: 'finished', counts: {}, pagesFailed: 0 },
  reports: { json: 'j', csv: 'c', html: 'h', corrections: null },
};

function waiting(answers: readonly (BatchResult | Error)[]) {
  const left = [...answers];
  const seen = { pauses: 0, away: 0 };
  const result = awaitResult(
    {
      result: () => {
        const answer = left.shift() ?? RESULT;
        return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
      },
    },
    { pause: () => Promise.resolve((seen.pauses += 1)), onAway: () => (seen.away += 1) },
  );
  return { result, seen };
}

describe('awaitResult', () => {
  it('gives the result', async () => {
    const { result, seen } = waiting([RESULT]);

    expect(await result).toBe(RESULT);
    expect(seen).toEqual({ pauses: 0, away: 0 });
  });

  it('waits on while Temporal is away, however often it asks in vain', async () => {
    const away = new Error('14 UNAVAILABLE: No connection established');
    const { result, seen } = waiting([...Array.from({ length: 150 }, () => away), RESULT]);

    expect(await result).toBe(RESULT);
    expect(seen).toEqual({ pauses: 150, away: 150 });
  });

  it.each([
    new WorkflowFailedError('failed', new Error('why'), 'NON_RETRYABLE_FAILURE'),
    new WorkflowNotFoundError('not found', 'batch-1', undefined),
  ])('takes an answer of Temporal for one: $name', async (answer) => {
    const { result, seen } = waiting([answer]);

    await expect(result).rejects.toBe(answer);
    expect(seen.pauses).toBe(0);
  });
});
