import { describe, expect, it } from 'vitest';
import { expectAgreement } from '../../support/crash/agreement.ts';
import { testInvoices } from '../../support/files/batch-file.ts';
import { withStack } from '../../support/lote/stack.ts';

const INVOICES = 400;
/** Of the service: its profile says nothing of it, and Lote would send many times as fast. */
const LIMIT = 20;

describe('a service with a limit that nobody has told Lote of', () => {
  it('is sent to as fast as it takes: few answers of 429, every invoice issued, none twice', async () => {
    const faults = { requestsPerSecond: LIMIT, retryAfterSeconds: 1 };
    await withStack({ sandbox: { faults }, env: { LOTE_PAGE_SIZE: '400' } }, async (stack) => {
      const result = await stack.run('too-many.csv', testInvoices(INVOICES));

      expect(result.counts).toMatchObject({ issued: INVOICES });
      expect(stack.sandbox.books().totals).toMatchObject({ invoices: INVOICES, issued: INVOICES });
      expect(stack.sandbox.books().duplicates).toEqual([]);
      await expectAgreement(stack, result.batchId);
      // Every POST of this night is answered: one more than there are invoices is one that got a 429.
      const tooMany = stack.posts().length - INVOICES;
      expect(tooMany, 'it has met the limit').toBeGreaterThan(0);
      // Sixty-four at a time and a Retry-After alone: forty-four of each sixty-four, over eight hundred.
      expect(tooMany, 'answers of 429').toBeLessThan(INVOICES / 4);
    });
  });
});
