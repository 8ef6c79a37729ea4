import { ServiceError, WorkflowFailedError, TerminatedFailure } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { followBatches, type FollowedBatch } from '../../../../src/cli/session/follow-batches.ts';
import { LoteError } from '../../../../src/domain/errors.ts';
import type { ReadBatch } from '../../../../src/console/operations.ts';
import type { BatchProgress, BatchResult } from '../../../../src/domain/messages/messages.ts';

const NEVER = new Promise<never>(() => undefined);

function resultOf(batchId: string): BatchResult {
  return { batchId, counts: { invoices: 1, issued: 1 } } as BatchResult;
}

/** A batch whose run gives these answers to whoever waits for it, one after the other; the last one for ever. */
function batch(
  batchId: string,
  answers: readonly (BatchResult | Error | typeof NEVER)[],
  progress?: BatchProgress,
): FollowedBatch {
  let asked = 0;
  const latest = { describe: () => Promise.resolve({ runId: 'run', status: { name: 'TERMINATED' } }) };
  const handle = {
    workflowId: batchId,
    result() {
      const answer = answers[Math.min((asked += 1), answers.length) - 1] ?? NEVER;
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    },
    client: { getHandle: () => latest },
    query: () => (progress === undefined ? Promise.reject(new Error('busy')) : Promise.resolve(progress)),
  };
  return { batchId, handle: handle as unknown as FollowedBatch['handle'] };
}

function screen() {
  const shown: string[] = [];
  let ends = 0;
  const progress = {
    show: (file: string, { phase }: { readonly phase: string }, settledCount: number) =>
      void shown.push(`${file} ${phase} ${settledCount}`),
    say: (text: string) => void shown.push(text),
    end: () => void (ends += 1),
  };
  return { shown, progress, ends: () => ends };
}

const WAITING = { operations: { batch: () => Promise.resolve(null) }, ended: NEVER };

describe('waiting for batches', () => {
  it('gives the results in the order of the files, whichever ends first', async () => {
    const { progress, ends } = screen();
    const slow = batch('slow', [new Promise((resolve) => setImmediate(() => resolve(resultOf('slow') as never)))]);

    const results = await followBatches(WAITING, [slow, batch('fast', [resultOf('fast')])], progress);

    expect(results.map(({ batchId }) => batchId)).toEqual(['slow', 'fast']);
    expect(ends()).toBe(1);
  });

  it('ends with Lote’s own words when a run failed, and takes its line from the screen', async () => {
    const { progress, ends } = screen();
    const failed = new WorkflowFailedError('Workflow execution failed', new TerminatedFailure('by hand'), 'TIMEOUT');

    await expect(followBatches(WAITING, [batch('a', [failed])], progress)).rejects.toMatchObject({
      code: 'internal',
      message: 'The run ended without a result: by hand',
    });
    expect(ends()).toBe(1);
  });

  it('ends at once when an operator interrupts, though the batch goes on', async () => {
    const { progress, ends } = screen();
    const ended = Promise.reject(new LoteError('interrupted', 'Interrupted: the workers go on.'));
    ended.catch(() => undefined);

    await expect(followBatches({ ...WAITING, ended }, [batch('a', [NEVER])], progress)).rejects.toMatchObject({
      code: 'interrupted',
    });
    expect(ends()).toBe(1);
  });

  it.each([
    ['with what came to rest of it', () => Promise.resolve({ counts: { issued: 4 } } as ReadBatch), 'a sending 4'],
    ['also while the ledger cannot be asked', () => Promise.reject(new Error('ledger away')), 'a sending 0'],
  ])('shows where a batch stands, %s', async (_, answer, line) => {
    const { shown, progress } = screen();
    const running = { phase: 'sending', invoices: 9 } as BatchProgress;
    let interrupt: (error: Error) => void = () => undefined;
    const ended = new Promise<never>((_resolve, reject) => (interrupt = reject));
    const find = (): Promise<ReadBatch> => {
      interrupt(new Error('seen enough'));
      return answer();
    };

    await expect(
      followBatches({ operations: { batch: find }, ended }, [batch('a', [NEVER], running)], progress),
    ).rejects.toThrow('seen enough');

    expect(shown).toEqual([line]);
  });

  it('goes on while Temporal does not answer: the server that comes back has the run', async () => {
    const { shown, progress } = screen();
    const away = new ServiceError('UNAVAILABLE');

    const [result] = await followBatches(WAITING, [batch('a', [away, resultOf('a')])], progress);

    expect(result?.batchId).toBe('a');
    expect(shown).toContain('a: waits for Temporal, which does not answer');
  });
});
