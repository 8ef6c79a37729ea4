import { WithStartWorkflowOperation } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { pageWorkflowId } from '../../../src/domain/messages/batch-id.ts';
import { expectAgreement, withStack, type TestStack, stop } from '../../support/lote/stack.ts';
import { ownName, testInvoices } from '../../support/files/batch-file.ts';
import { type FrontAction, gatedEngine } from '../../support/servers/service-front.ts';
import { until } from '../../support/until.ts';
import type { BatchResult, ReasonInput } from '../../../src/domain/messages/messages.ts';
import type { invoiceBatch } from '../../../workflows/invoice-batch.ts';

const TWO_AT_A_TIME = { profile: { limits: { maxConcurrency: 2 } } } as const;

/** Lets so many invoices through to the service, and holds the next ones until it is called: the batch is sending as long as the test looks. */
function holdAfter(invoices: number, { front, posts }: TestStack): () => void {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  front.script = async ({ method, path }): Promise<FrontAction> => {
    if (method === 'POST' && path === '/v1/invoices' && posts().length > invoices) await released;
    return 'pass';
  };
  return () => release();
}

/** What every run of a file says the same of it; its own report's revision and changes only the run that wrote it knows. */
function outcomeOf({ batchId, file, state, counts, reports, pagesFailed }: BatchResult) {
  return { batchId, file, state, counts, reports, pagesFailed };
}

/** Each invoice of the file has its place in the report. */
async function expectBalance(stack: TestStack, { batchId, counts }: BatchResult): Promise<void> {
  const { rows: _rows, invoices, ...states } = counts;
  expect(await stack.lines(batchId)).toHaveLength(invoices ?? 0);
  expect(Object.values(states).reduce((sum, count) => sum + count, 0)).toBe(invoices);
}

describe('the claim of a file', { concurrent: true }, () => {
  it('is held by one run; a second one waits and returns the same result', async () => {
    await withStack(TWO_AT_A_TIME, async (stack) => {
      const release = holdAfter(5, stack);
      const first = await stack.begin('twice.csv', testInvoices(30));
      await until(() => stack.posts().length > 5);
      const second = await stack.startAs(ownName('ui'), { file: 'twice.csv' });
      await until(async () => (await stack.progress(second)).phase === 'attached');

      for (const update of ['pause', 'cancelRemaining', 'resume']) {
        const args: [{ reason: string }] = [{ reason: 'by mistake' }];
        await expect(second.executeUpdate<string, [{ reason: string }]>(update, { args })).rejects.toMatchObject({
          cause: { message: expect.stringContaining(first.batchId) as unknown },
        });
      }
      release();
      const [one, two] = await Promise.all([first.handle.result(), second.result()]);

      expect(one.counts).toMatchObject({ issued: 30 });
      expect(outcomeOf(two)).toEqual(outcomeOf(one));
      expect(two.attachedTo).toBe(first.batchId);
      expect(stack.posts()).toHaveLength(30);
      await expectAgreement(stack, one.batchId);
    });
  });

  it('of a run that was terminated is taken over, and the batch is finished under the same keys', async () => {
    await withStack(TWO_AT_A_TIME, async (stack) => {
      const release = holdAfter(5, stack);
      const first = await stack.begin('orphan.csv', testInvoices(40));
      await until(() => stack.posts().length > 5);
      await first.handle.terminate('by the test');
      release();

      const second = await stack.start({ file: 'orphan.csv' });
      const result = await second.handle.result();

      expect(result).toMatchObject({ batchId: first.batchId, pagesFailed: 0, counts: { issued: 40 } });
      expect(new Set(stack.posts().map(({ key }) => key)).size).toBe(40);
      await expectAgreement(stack, result.batchId);
    });
  });

  it('does not pass on what a run was asked before it knew of the claim: that run ends, and says so', async () => {
    await withStack(TWO_AT_A_TIME, async (stack) => {
      const release = holdAfter(5, stack);
      const first = await stack.begin('asked.csv', testInvoices(30));
      await until(() => stack.posts().length > 5);

      // The update comes with the start, as the file is being read.
      const start = new WithStartWorkflowOperation<typeof invoiceBatch>('invoiceBatch', {
        ...{ workflowId: ownName('ui'), taskQueue: stack.config.taskQueue },
        ...{ args: [{ file: 'asked.csv' }], workflowIdConflictPolicy: 'FAIL' },
      });
      await stack.client.workflow.executeUpdateWithStart<typeof invoiceBatch, string, [ReasonInput]>('pause', {
        ...{ args: [{ reason: 'the wrong file', who: 'ana' }], startWorkflowOperation: start },
      });
      const second = await start.workflowHandle();

      const words = `pause was not done. Send it to the workflow ${first.batchId}`;
      await expect(second.result()).rejects.toMatchObject({
        cause: { type: 'batch-running', message: expect.stringContaining(words) as string },
      });
      release();
      expect((await first.handle.result()).counts).toMatchObject({ issued: 30 });
      await expectAgreement(stack, first.batchId);
    });
  });

  it.each([
    ['was going on', null],
    ['was paused', 'pause'],
    ['was cancelled', 'cancelRemaining'],
  ] as const)('of a terminated run does not pass to one that waited for it when its batch %s', async (_, update) => {
    // Nothing settles, so that a cancelled batch waits, too. What is left takes about ten seconds, far longer than the heir needs
    // to notice the end of the first run and to withdraw its permission to send, also on a busy machine.
    const invoices = 120;
    const sandbox = { latencyMs: 200, faults: { neverSettle: 1 } };
    await withStack({ ...TWO_AT_A_TIME, sandbox }, async (stack) => {
      const release = holdAfter(5, stack);
      const first = await stack.begin('wrong.csv', testInvoices(invoices));
      await until(() => stack.posts().length > 5);
      const heir = await stack.startAs(ownName('heir'), { file: 'wrong.csv' });
      await until(async () => (await stack.progress(heir)).phase === 'attached');
      if (update !== null) {
        await first.handle.executeUpdate<string, [ReasonInput]>(update, { args: [{ reason: 'the wrong file' }] });
        await until(async () => (await stack.ledger.auditOf(first.batchId)).length > 0);
      }
      await first.handle.terminate('the wrong file');
      release();

      const result = await heir.result();

      expect(result).toMatchObject({ batchId: first.batchId, attachedTo: first.batchId, state: 'finished' });
      const { held = 0 } = result.counts;
      expect(held).toBeGreaterThan(0);
      expect(stack.posts().length).toBeLessThan(invoices);
      expect(stack.posts().length + held).toBeLessThanOrEqual(invoices);
      expect((await stack.reconcile()).orphans).toEqual([]);
      const what = update === null ? 'terminated' : update === 'pause' ? 'paused' : 'cancelled';
      expect((await stack.ledger.findBatch(first.batchId))?.stopped).toMatchObject({ what, why: 'the wrong file' });
      await expectBalance(stack, result);
    });
  });

  it('of a second file with the same invoices: it waits for the batch that sends them', async () => {
    // The owner needs more than a second for what is left: longer than its permission to send may be used after a pause.
    await withStack({ ...TWO_AT_A_TIME, sandbox: { latencyMs: 200 } }, async (stack) => {
      const shared = testInvoices(20);
      await stack.drop('owner.csv', shared);
      await stack.drop('other.csv', [...shared.toReversed(), ...testInvoices(5, {}, 21)]);
      const release = holdAfter(5, stack);
      const owner = await stack.start({ file: 'owner.csv' });
      await until(() => stack.posts().length > 5);
      await stop(owner.handle, 'pause', { reason: 'test' });
      await until(async () => (await stack.ledger.auditOf(owner.batchId)).length > 0);
      release();

      const other = await stack.start({ file: 'other.csv' });
      await until(async () => (await stack.progress(other.handle)).phase === 'waiting');
      await until(async () => (await stack.lines(other.batchId)).filter(({ state }) => state === 'issued').length >= 5);
      expect((await other.handle.describe()).status.name).toBe('RUNNING');
      await owner.handle.executeUpdate<string, []>('resume');
      const [ownerResult, otherResult] = await Promise.all([owner.handle.result(), other.handle.result()]);

      expect(ownerResult.counts).toMatchObject({ issued: 20 });
      const { issued = 0, 'already-issued': before = 0 } = otherResult.counts;
      expect(issued + before).toBe(25);
      await expectAgreement(stack, owner.batchId, other.batchId);
    });
  });
});

describe('a page', { concurrent: true }, () => {
  it('that is terminated is counted; the batch ends, and says of each invoice what is known', async () => {
    const sandbox = { faults: { neverSettle: 1 } };
    await withStack({ sandbox, env: { LOTE_PAGE_SIZE: '5', LOTE_SETTLE_TIMEOUT: '10s' } }, async (stack) => {
      const { batchId, handle } = await stack.begin('broken-page.csv', testInvoices(10));
      await until(async () => (await stack.progress(handle)).pagesSent === 2);
      await stack.client.workflow.getHandle(pageWorkflowId(batchId, 1)).terminate('by the test');

      const result = await handle.result();

      expect(result).toMatchObject({ state: 'finished', pagesFailed: 1, counts: { unsettled: 10 } });
      expect(await stack.line(batchId, 'F-1')).toMatchObject({ state: 'unsettled', reason: { code: 'page-failed' } });
      expect(await stack.line(batchId, 'F-6')).toMatchObject({
        state: 'unsettled',
        reason: { code: 'no-final-answer' },
      });
      await expectAgreement(stack, batchId);
    });
  });

  it('that is terminated while it sends leaves nothing open, and the file dropped again finishes it', async () => {
    await withStack({ ...TWO_AT_A_TIME, env: { LOTE_PAGE_SIZE: '20' } }, async (stack) => {
      const release = holdAfter(4, stack);
      const { batchId, handle } = await stack.begin('cut.csv', testInvoices(40));
      await until(() => stack.posts().length > 4);
      await stack.client.workflow.getHandle(pageWorkflowId(batchId, 1)).terminate('by the test');
      release();
      const first = await handle.result();
      expect(first.pagesFailed).toBe(1);

      await until(async () => {
        const { handle: again } = await stack.start({ file: 'cut.csv' });
        await again.result();
        // What was on the wire at the end is unknown until reconciliation; nothing else may be left.
        return (await stack.lines(batchId)).every(({ state }) => ['issued', 'unknown', 'unsettled'].includes(state));
      });

      await expectAgreement(stack, batchId);
    });
  });
});

describe('a file that is started while its run is open', () => {
  it('joins that run with the same options or none, and is refused with others, which change nothing', async () => {
    const gate = gatedEngine();
    await withStack({ sandbox: { engine: gate.engine } }, async (stack) => {
      await stack.drop('open.csv', testInvoices(2));
      const first = { file: 'open.csv', decimal: '.', onInvalid: 'hold' } as const;
      const { batchId, handle } = await stack.start(first);

      for (const same of [first, { file: 'open.csv' }]) expect((await stack.start(same)).batchId).toBe(batchId);
      for (const [other, words] of [
        [{ decimal: ',' }, 'decimal "." instead of ","'],
        [{ onInvalid: 'skip' }, 'onInvalid "hold" instead of "skip"'],
        [{ expectInvoices: 3 }, 'expectInvoices null instead of 3'],
      ] as const) {
        await expect(stack.start({ ...first, ...other })).rejects.toMatchObject({
          ...{ code: 'usage', message: expect.stringContaining(words) as string },
        });
      }
      gate.open();
      expect((await handle.result()).counts).toMatchObject({ issued: 2 });
    });
  });
});
