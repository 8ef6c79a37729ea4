import { describe, expect, it } from 'vitest';
import { ownName, testInvoices } from '../../support/files/batch-file.ts';
import { gatedEngine } from '../../support/crash/gated-engine.ts';
import { withStack, type TestStack } from '../../support/lote/stack.ts';
import { until } from '../../support/until.ts';
import { pageWorkflowId } from '../../../workflows/page/page-workflow-id.ts';

const SIDE_BY_SIDE = { concurrent: true, timeout: 180_000 };

/** What the Temporal UI sends when nothing, or something else than an object, was typed; `undefined` is no input at all. */
const TYPED: readonly unknown[] = [undefined, null, 7, 'text', [], {}];

function argsOf(input: unknown): [] | [unknown] {
  return input === undefined ? [] : [input];
}

/** Sent to the last invoice, and the engine says nothing of any until it is opened. */
async function waitingBatch(stack: TestStack, invoices: number) {
  await stack.drop('typed.csv', testInvoices(invoices));
  const started = await stack.start({ file: 'typed.csv' });
  await until(async () => (await stack.progress(started.handle)).pagesSent === 1);
  return started;
}

describe('a signal that somebody sends by hand with another input than its own', SIDE_BY_SIDE, () => {
  it.each(['pageSent', 'pageStopped', 'waiting', 'outageOver', 'operated'])(
    'does not stop a batch: %s',
    async (signal) => {
      const gate = gatedEngine();
      await withStack({ sandbox: { engine: gate.engine } }, async (stack) => {
        const { handle } = await waitingBatch(stack, 3);

        for (const input of TYPED) await handle.signal(signal, ...argsOf(input));
        await handle.signal(signal, { page: 'one', reason: 5 });
        gate.open();

        expect((await handle.result()).counts).toMatchObject({ issued: 3 });
      });
    },
  );

  it.each(['settled', 'control'])('does not stop a page: %s', async (signal) => {
    const gate = gatedEngine();
    await withStack({ sandbox: { engine: gate.engine } }, async (stack) => {
      const { batchId, handle } = await waitingBatch(stack, 3);
      const page = stack.client.workflow.getHandle(pageWorkflowId(batchId, 1));

      for (const input of TYPED) await page.signal(signal, ...argsOf(input));
      await page.signal(signal, { ordinals: 5, paused: 'no' });
      gate.open();

      expect((await handle.result()).counts).toMatchObject({ issued: 3 });
    });
  });
});

describe('a name of who acts that is no text', SIDE_BY_SIDE, () => {
  it.each(['pause', 'cancelRemaining', 'retryInvoices'])(
    'does not keep a batch from its report: %s',
    async (update) => {
      const gate = gatedEngine();
      await withStack({ sandbox: { engine: gate.engine } }, async (stack) => {
        const { batchId, handle } = await waitingBatch(stack, 3);

        const input = { reason: 'a look', who: 5, states: ['failed'] };
        await handle.executeUpdate<string, [unknown]>(update, { args: [input] });
        if (update === 'pause') await handle.executeUpdate<string, []>('resume');
        gate.open();

        expect((await handle.result()).counts).toMatchObject({ issued: 3 });
        const audit = await stack.ledger.auditOf(batchId);
        expect(audit.map(({ who }) => who).filter((who) => who !== null)).toEqual([]);
      });
    },
  );
});

describe('a retry with a name that it does not know', SIDE_BY_SIDE, () => {
  it('sends nothing again: of a batch that was cancelled, a mistyped "rows" lets no other invoice go', async () => {
    await withStack({}, async (stack) => {
      stack.front.script = ({ path }) => (path.startsWith('/v1/merchants') ? { status: 503 } : 'pass');
      await stack.drop('cancelled.csv', testInvoices(3));
      const { batchId, handle } = await stack.start({ file: 'cancelled.csv' });
      await handle.executeUpdate<string, [object]>('cancelRemaining', { args: [{ reason: 'the wrong file' }] });
      await handle.result();
      stack.front.script = () => 'pass';

      const again = stack.client.workflow.execute('retryInvoices', {
        workflowId: ownName('mistyped'),
        taskQueue: stack.config.taskQueue,
        args: [{ batch: batchId, row: [2], reason: 'this one is right' }],
      });

      await expect(again).rejects.toMatchObject({ cause: { type: 'input-invalid' } });
      expect(stack.posts()).toEqual([]);
    });
  });
});
