import { describe, expect, it } from 'vitest';
import { pageWorkflowId } from '../../workflows/page/page-workflow-id.ts';
import { testInvoices } from '../support/files/batch-file.ts';
import { withStack, type TestStack } from '../support/lote/stack.ts';

const INVOICES = 900;
/**
 * Labels, looks, lists and the wait for the first invoices included. 80 were measured on a busy machine, 114 on a very busy one: a slow run looks
 * more often, and answers come in more deliveries. One event an invoice would be 900.
 */
const MOST_EVENTS = 200;

async function eventsOf(stack: TestStack, workflowId: string): Promise<readonly string[]> {
  const { events } = await stack.client.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).map(({ eventType }) => String(eventType));
}

describe('the histories of a batch', () => {
  it('do not grow with its invoices: what is told, listed and labelled costs a few events each', async () => {
    await withStack({ env: { LOTE_PAGE_SIZE: '1000' } }, async (stack) => {
      const { batchId } = await stack.run('large.csv', testInvoices(INVOICES));

      const batch = await eventsOf(stack, batchId);
      const page = await eventsOf(stack, pageWorkflowId(batchId, 1));

      expect(batch.length + page.length, `${batch.length} of the batch, ${page.length} of its page`).toBeLessThan(
        MOST_EVENTS,
      );
      console.log(`${INVOICES} invoices: ${batch.length} events of the batch, ${page.length} of its page`);
      const upserts = (await stack.client.workflow.getHandle(batchId).fetchHistory()).events?.filter(
        ({ upsertWorkflowSearchAttributesEventAttributes: upsert }) => upsert !== null && upsert !== undefined,
      );
      expect(upserts).toHaveLength(2);
    });
  });
});
