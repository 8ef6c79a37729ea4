import { describe, expect, it } from 'vitest';
import { testInvoices } from '../../support/files/batch-file.ts';
import { gatedEngine } from '../../support/servers/service-front.ts';
import { withStack, type TestStack } from '../../support/lote/stack.ts';
import { until } from '../../support/until.ts';
import { pageWorkflowId } from '../../../src/domain/messages/batch-id.ts';

const SIDE_BY_SIDE = { concurrent: true };

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

/** Of a batch, and of its page. */
const SIGNALS = {
  batch: ['pageSent', 'pageStopped', 'waiting', 'outageOver'],
  page: ['settled', 'control'],
} as const;

describe('a signal that is sent by hand with another input than its own', SIDE_BY_SIDE, () => {
  it('stops neither a batch nor its page', async () => {
    const gate = gatedEngine();
    await withStack({ sandbox: { engine: gate.engine } }, async (stack) => {
      const { batchId, handle } = await waitingBatch(stack, 3);
      const page = stack.client.workflow.getHandle(pageWorkflowId(batchId, 1));

      for (const input of [...TYPED, { page: 'one', reason: 5 }, { ordinals: 5, paused: 'no' }]) {
        for (const signal of SIGNALS.batch) await handle.signal(signal, ...argsOf(input));
        for (const signal of SIGNALS.page) await page.signal(signal, ...argsOf(input));
      }
      gate.open();

      expect((await handle.result()).counts).toMatchObject({ issued: 3 });
    });
  });
});

describe('a name of who acts that is no text', SIDE_BY_SIDE, () => {
  it('does not keep a batch from its report', async () => {
    const gate = gatedEngine();
    await withStack({ sandbox: { engine: gate.engine } }, async (stack) => {
      const { batchId, handle } = await waitingBatch(stack, 3);

      for (const update of ['pause', 'resume', 'retryInvoices', 'cancelRemaining']) {
        const input = { reason: 'a look', who: 5, ...(update === 'retryInvoices' && { states: ['failed'] }) };
        await handle.executeUpdate<string, [unknown]>(update, { args: [input] });
      }
      gate.open();

      expect((await handle.result()).counts).toMatchObject({ issued: 3 });
      const audit = await stack.ledger.auditOf(batchId);
      expect(audit.map(({ who }) => who).filter((who) => who !== null)).toEqual([]);
    });
  });
});
