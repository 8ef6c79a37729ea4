import { describe, expect, it } from 'vitest';
import { expectAgreement, withStack } from '../../support/lote/stack.ts';
import { testInvoices } from '../../support/files/batch-file.ts';
import type { FrontRequest } from '../../support/servers/service-front.ts';

const CUSTOMER = /"Cliente Secreto F-(\d+)"/u;

/** The ordinals of the invoices that were POSTed, each once. */
function ordinalsOf(posts: readonly FrontRequest[]): ReadonlySet<number> {
  return new Set(posts.map(({ body }) => Number(CUSTOMER.exec(body)?.[1])));
}

describe('how much of a batch is sent at once', { concurrent: true }, () => {
  it('grows by another page once each invoice of a page was tried: a few that are put off again and again keep no other waiting', async () => {
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
