import { describe, expect, it } from 'vitest';
import { testInvoices } from '../../support/files/batch-file.ts';
import { gatedEngine } from '../../support/servers/service-front.ts';
import { withStack } from '../../support/lote/stack.ts';
import { until } from '../../support/until.ts';
import { pageWorkflowId } from '../../../src/domain/messages/batch-id.ts';

/** What the Temporal UI sends when nothing, or something else than an object, was typed; `undefined` is no input at all. */
const TYPED: readonly unknown[] = [undefined, null, 7, 'text', [], {}];

function argsOf(input: unknown): [] | [unknown] {
  return input === undefined ? [] : [input];
}

/** Of a batch, and of its page. */
const SIGNALS = {
  batch: ['pageSent', 'pageStopped', 'waiting', 'outageOver'],
  page: ['settled', 'control'],
} as const;

describe('what is typed by hand', () => {
  it('stops neither a batch nor its page as a signal with another input, nor as a name of who acts that is no text', async () => {
    const gate = gatedEngine();
    await withStack({ sandbox: { engine: gate.engine } }, async (stack) => {
      const { batchId, handle } = await stack.begin('typed.csv', testInvoices(3));
      await until(async () => (await stack.progress(handle)).pagesSent === 1);
      const page = stack.client.workflow.getHandle(pageWorkflowId(batchId, 1));

      for (const input of [...TYPED, { page: 'one', reason: 5 }, { ordinals: 5, paused: 'no' }]) {
        for (const signal of SIGNALS.batch) await handle.signal(signal, ...argsOf(input));
        for (const signal of SIGNALS.page) await page.signal(signal, ...argsOf(input));
      }
      for (const input of [...TYPED, { reason: '  ' }, { reason: 4 }]) {
        for (const update of ['pause', 'cancelRemaining']) {
          const refused = handle.executeUpdate<string, [unknown]>(update, { args: [input] });
          await expect(refused, `${update} with ${JSON.stringify(input)}`).rejects.toMatchObject({
            cause: { type: 'input-invalid', message: 'A reason is needed: {"reason": "why"}' },
          });
        }
      }
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
