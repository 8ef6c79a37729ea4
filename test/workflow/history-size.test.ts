import { describe, expect, it } from 'vitest';
import { pageWorkflowId } from '../../src/domain/messages/batch-id.ts';
import { testInvoices } from '../support/files/batch-file.ts';
import { withStack, type TestStack } from '../support/lote/stack.ts';

const INVOICES = 900;
/**
 * Labels, lists and the wait for the first invoices included; answers come in more deliveries on a busy machine. One event an invoice would be 900.
 */
const MOST_EVENTS = 200;
/** What a look at the ledger costs, which waits in between become longer and longer: a slow run looks more often, and no invoice makes it do so. */
const EVENTS_OF_A_LOOK = 8;
const LOOKS = new Set(['lookAtBatch', 'reviewPage']);
/** In a quarter of an hour. */
const MOST_LOOKS = 30;

interface Size {
  readonly events: number;
  readonly looks: number;
}

async function sizeOf(stack: TestStack, workflowId: string): Promise<Size> {
  const { events = [] } = await stack.client.workflow.getHandle(workflowId).fetchHistory();
  const types = (events ?? []).map(({ activityTaskScheduledEventAttributes: one }) => one?.activityType?.name ?? '');
  return { events: types.length, looks: types.filter((name) => LOOKS.has(name)).length };
}

describe('the histories of a batch', () => {
  it('do not grow with its invoices: what is told, listed and labelled costs a few events each', async () => {
    await withStack({ env: { LOTE_PAGE_SIZE: '1000' } }, async (stack) => {
      const { batchId } = await stack.run('large.csv', testInvoices(INVOICES));

      const batch = await sizeOf(stack, batchId);
      const page = await sizeOf(stack, pageWorkflowId(batchId, 1));

      const said = `${batch.events} of the batch with ${batch.looks} looks, ${page.events} of its page with ${page.looks}`;
      const looks = batch.looks + page.looks;
      expect(batch.events + page.events - looks * EVENTS_OF_A_LOOK, said).toBeLessThan(MOST_EVENTS);
      expect(looks, said).toBeLessThan(MOST_LOOKS);
      console.log(`${INVOICES} invoices: events ${said}`);
      const upserts = (await stack.client.workflow.getHandle(batchId).fetchHistory()).events?.filter(
        ({ upsertWorkflowSearchAttributesEventAttributes: upsert }) => upsert !== null && upsert !== undefined,
      );
      expect(upserts).toHaveLength(2);
    });
  });
});
