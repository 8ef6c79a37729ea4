import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { awaitResult } from '../../../src/app/temporal/calls.ts';
import { gatedEngine } from '../../support/servers/service-front.ts';
import { expectAgreement, removeRun, withStack, type TestStack } from '../../support/lote/stack.ts';
import { ownName, testInvoices } from '../../support/files/batch-file.ts';
import { until } from '../../support/until.ts';
import type { BatchHandle } from '../../../src/app/temporal/batch-starter.ts';

/** As an operator resets a run in the Temporal UI: to the end of its first workflow task, before it read its file, or of its last one. */
async function reset({ client, config }: TestStack, handle: BatchHandle, to: 'first' | 'last'): Promise<void> {
  const { events } = await handle.fetchHistory();
  const tasks = (events ?? []).filter((event) => Boolean(event.workflowTaskCompletedEventAttributes));
  await client.workflowService.resetWorkflowExecution({
    namespace: config.temporal.namespace,
    workflowExecution: { workflowId: handle.workflowId, runId: (await handle.describe()).runId },
    workflowTaskFinishEventId: tasks.at(to === 'first' ? 0 : -1)?.eventId ?? null,
    reason: 'a test',
    requestId: randomUUID(),
  });
}

/** A batch whose page waits for final words; `latest` is its workflow, whichever run that is. */
async function waitingBatch(stack: TestStack) {
  const { batchId, handle } = await stack.begin('reset.csv', testInvoices(3));
  await until(async () => (await stack.progress(handle)).pagesSent === 1);
  const latest: BatchHandle = stack.client.workflow.getHandle(batchId);
  return { batchId, handle, latest };
}

describe('a batch that is reset while its page waits', { concurrent: true }, () => {
  it('reads its file again, and takes the place of the page that the run before has left', async () => {
    const gate = gatedEngine();
    await withStack({ sandbox: { engine: gate.engine } }, async (stack) => {
      const { batchId, handle, latest } = await waitingBatch(stack);

      await reset(stack, handle, 'first');
      await until(async () => (await stack.progress(latest)).phase === 'waiting');
      gate.open();

      expect((await latest.result()).counts).toMatchObject({ issued: 3 });
      await expectAgreement(stack, batchId);
    });
  });

  it('is followed by the command that waits for it, and keeps its claim: a run beside it with the same file waits', async () => {
    const gate = gatedEngine();
    await withStack({ sandbox: { engine: gate.engine } }, async (stack) => {
      const { batchId, handle } = await waitingBatch(stack);
      const waiting = awaitResult(handle);

      await reset(stack, handle, 'last');
      await until(async () => (await stack.progress(handle)).phase === 'waiting');
      const beside = await stack.startAs(ownName('beside'), { file: 'reset.csv' });
      await until(async () => (await stack.progress(beside)).phase !== 'reading');
      expect((await stack.progress(beside)).phase).toBe('attached');
      gate.open();

      expect(await waiting).toMatchObject({ batchId, counts: { issued: 3 } });
      expect(await beside.result()).toMatchObject({ attachedTo: batchId, counts: { issued: 3 } });
    });
  });
});

describe('a batch that is reset before it has a page', () => {
  it('keeps its claim also once Temporal has removed the run before the reset', async () => {
    await withStack({}, async (stack) => {
      stack.front.script = () => 'cut';
      const { batchId, handle } = await stack.begin('reset.csv', testInvoices(3));
      await until(async () => (await stack.progress(handle)).waitingFor !== null);
      const { runId } = await handle.describe();
      await reset(stack, handle, 'last');
      await removeRun(stack.client, batchId, runId);
      const latest: BatchHandle = stack.client.workflow.getHandle(batchId);

      const beside = await stack.startAs(ownName('beside'), { file: 'reset.csv' });
      await until(async () => (await stack.progress(beside)).phase !== 'reading');
      expect((await stack.progress(beside)).phase).toBe('attached');
      stack.front.script = () => 'pass';

      expect((await latest.result()).counts).toMatchObject({ issued: 3 });
      expect(await beside.result()).toMatchObject({ attachedTo: batchId, counts: { issued: 3 } });
    });
  });
});

describe('a batch that is reset while its pages send', () => {
  it('hears what they say, and gives their places to others before they close', async () => {
    const gate = gatedEngine();
    // Four pages send at once.
    const options = {
      sandbox: { engine: gate.engine },
      env: { LOTE_PAGE_SIZE: '2' },
      profile: { limits: { requestsPerSecond: 1 } },
    };
    await withStack(options, async (stack) => {
      const { batchId, handle } = await stack.begin('reset.csv', testInvoices(12));
      await until(() => stack.posts().length >= 3);
      const { phase, pages, pagesSent } = await stack.progress(handle);
      expect({ phase, pages }).toEqual({ phase: 'sending', pages: 6 });
      expect(pagesSent, 'three POSTs may be all of one page and one of another').toBeLessThan(2);

      await reset(stack, handle, 'last');
      const latest: BatchHandle = stack.client.workflow.getHandle(batchId);
      await until(async () => (await stack.progress(latest)).pagesSent === 6);
      gate.open();

      expect((await latest.result()).counts).toMatchObject({ issued: 12 });
      await expectAgreement(stack, batchId);
    });
  });
});
