import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { BatchResult } from '../../../src/domain/messages/messages.ts';
import type { BatchHandle } from '../../../src/app/temporal/batch-starter.ts';
import type { NightlyResult } from '../../../workflows/nightly-issuance.ts';
import type { StackOptions } from '../../support/lote/stack-parts.ts';
import { expectAgreement, withStack, type TestStack, startNight, filesOf, stop } from '../../support/lote/stack.ts';
import { testInvoices } from '../../support/files/batch-file.ts';
import { until } from '../../support/until.ts';
import type { NightlyRunEntry } from '../../../src/domain/records/night.ts';

const QUICK: StackOptions = { env: { LOTE_DROP_STABLE_FOR: '5ms' } };
const FILE = testInvoices(3);

/** A night has claimed the file, and the service is away: nothing of it has been sent. Then an operator ends the night. */
async function interruptedNight(stack: TestStack): Promise<{ readonly batchId: string; readonly handle: BatchHandle }> {
  stack.front.script = () => 'cut';
  await stack.drop('wrong.csv', FILE);
  const night = await startNight(stack);
  await until(async () => (await stack.ledger.listBatches(1)).length > 0);
  const { batchId, workflowId } = (await stack.ledger.listBatches(1))[0] ?? { batchId: '', workflowId: '' };
  const handle = stack.client.workflow.getHandle(workflowId) as BatchHandle;
  await until(async () => (await stack.progress(handle)).waitingFor !== null);
  await night.terminate('the wrong file');
  return { batchId, handle };
}

async function entryOf(night: NightlyResult): Promise<NightlyRunEntry | undefined> {
  return (await filesOf(night))[0];
}

async function expectNothingSent(stack: TestStack, batchId: string, code: string): Promise<void> {
  expect((await stack.lines(batchId)).map(({ state, reason }) => [state, reason?.code])).toEqual(
    FILE.map(() => ['held', code]),
  );
  expect(stack.sandbox.books().invoices).toEqual([]);
}

/** As a person does it: that is an order to send it. */
async function expectSentWhenDroppedAgain(stack: TestStack, batchId: string): Promise<void> {
  const again: BatchResult = await stack.run('wrong.csv', FILE);
  expect(again).toMatchObject({ batchId, state: 'finished', counts: { issued: FILE.length } });
  await expectAgreement(stack, batchId);
}

describe('a file that a night takes over from an earlier one', { concurrent: true }, () => {
  it.each<readonly [string, string, (stack: TestStack, handle: BatchHandle, batchId: string) => Promise<unknown>]>([
    [
      'its run was terminated and its batch closed',
      'run-lost',
      async (stack, handle, batchId) => {
        await handle.terminate('the wrong file');
        stack.front.script = () => 'pass';
        expect((await stack.reconcile()).orphans).toEqual([batchId]);
      },
    ],
    [
      'its run was terminated and its batch is open still: the night closes it',
      'run-lost',
      (_, handle) => handle.terminate('the wrong file'),
    ],
    [
      'an operator has cancelled the rest of its batch',
      'batch-cancelled',
      async (_, handle) => {
        await stop(handle, 'cancelRemaining');
        expect(await handle.result()).toMatchObject({ state: 'cancelled' });
      },
    ],
    [
      'it was paused and its run has ended: nobody can resume it',
      'run-lost',
      async (stack, handle, batchId) => {
        await stop(handle);
        await until(async () => (await stack.ledger.findBatch(batchId))?.state === 'paused');
        await handle.terminate('the wrong file');
      },
    ],
  ])('is not sent, and is shelved with its report, when %s', async (what, code, end) => {
    await withStack(QUICK, async (stack) => {
      const { batchId, handle } = await interruptedNight(stack);
      await end(stack, handle, batchId);
      stack.front.script = () => 'pass';

      const entry = await entryOf(await (await startNight(stack)).result());

      await expectNothingSent(stack, batchId, code);
      expect(entry).toMatchObject({ resumed: true, verdict: 'attention', issued: 0, batchId });
      expect(entry?.waitsFor).toBeUndefined();
      if (what.includes('the night closes it'))
        expect(entry?.sentences.join(' ')).toMatch(
          /Stopped on .*: its run was terminated in Temporal, by .* \(the wrong file\)\./u,
        );
      const left = await readdir(stack.config.inputDir, { recursive: true });
      expect(left.filter((path) => path.startsWith('in-progress/'))).toEqual([]);
      await expectSentWhenDroppedAgain(stack, batchId);
    });
  });

  it('is sent when the earlier night ended before it began: nobody has stopped anything of it', async () => {
    await withStack(QUICK, async (stack) => {
      const folder = 'in-progress/2026-01-01-ended000/0001';
      await mkdir(join(stack.config.inputDir, folder), { recursive: true });
      await stack.drop(`${folder}/left.csv`, FILE);

      const night = await (await startNight(stack)).result();

      const entry = await entryOf(night);
      expect(entry).toMatchObject({ resumed: true, verdict: 'issued' });
      await expectAgreement(stack, entry?.batchId ?? '');
    });
  });
});
