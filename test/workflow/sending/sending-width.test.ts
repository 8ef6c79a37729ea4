import { describe, expect, it } from 'vitest';
import { expectAgreement } from '../../support/crash/agreement.ts';
import { testInvoices } from '../../support/files/batch-file.ts';
import type { FrontRequest } from '../../support/servers/service-front.ts';
import { withStack } from '../../support/lote/stack.ts';
import { until } from '../../support/until.ts';
import { pageWorkflowId } from '../../../workflows/page/page-workflow-id.ts';

const CUSTOMER = /"Cliente Secreto F-(\d+)"/u;

/** The ordinals of the invoices that were POSTed, each once. */
function ordinalsOf(posts: readonly FrontRequest[]): ReadonlySet<number> {
  return new Set(posts.map(({ body }) => Number(CUSTOMER.exec(body)?.[1])));
}

describe('how much of a batch is sent at once', { concurrent: true }, () => {
  it('is two pages where the service takes few requests a second, so that slices end before their time', async () => {
    const profile = { limits: { requestsPerSecond: 1.5 } };
    await withStack({ env: { LOTE_PAGE_SIZE: '50' }, profile }, async (stack) => {
      await stack.drop('slow.csv', testInvoices(180));
      const { batchId, handle } = await stack.start({ file: 'slow.csv' });
      await until(() => stack.posts().length >= 5);

      const { raw } = await handle.describe();
      expect(new Set(raw.pendingChildren?.map(({ workflowId }) => workflowId))).toEqual(
        new Set([1, 2].map((page) => pageWorkflowId(batchId, page))),
      );

      await handle.executeUpdate('cancelRemaining', { args: [{ reason: 'seen' }] });
      await handle.result();
    });
  });

  it('grows by another page once each invoice of a page was tried: a few that are put off again and again keep nobody waiting', async () => {
    await withStack({ env: { LOTE_PAGE_SIZE: '2' } }, async (stack) => {
      // One invoice of each page that may send at once.
      const putOff = new Set([1, 3, 5, 7]);
      stack.front.script = ({ method, path, body }) => {
        const ordinal = Number(CUSTOMER.exec(body)?.[1]);
        if (method !== 'POST' || path !== '/v1/invoices' || !putOff.has(ordinal)) return 'pass';
        return ordinalsOf(stack.posts()).size === 12 ? 'pass' : { status: 425 };
      };

      const result = await stack.run('put-off.csv', testInvoices(12));

      expect(result.counts).toMatchObject({ invoices: 12, issued: 12 });
      await expectAgreement(stack, result.batchId);
    });
  });
});
