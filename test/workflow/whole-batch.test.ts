import { describe, expect, it } from 'vitest';
import { expectAgreement } from '../support/crash/agreement.ts';
import { FAILING_TAX_CODE, testInvoices } from '../support/files/batch-file.ts';
import { readReportOf, withStack } from '../support/lote/stack.ts';

describe('a batch', { concurrent: true }, () => {
  it('goes from its file to a report in which every invoice has its final word', async () => {
    await withStack({ env: { LOTE_PAGE_SIZE: '40' } }, async (stack) => {
      const invoices = [
        ...testInvoices(97),
        { ref: 'F-98', taxCode: FAILING_TAX_CODE },
        { ref: 'F-99', quantity: 'muitos' },
      ];

      const result = await stack.run('whole.csv', invoices);

      expect(result).toMatchObject({ state: 'finished', pagesFailed: 0 });
      expect(result.counts).toMatchObject({ rows: 99, invoices: 99, issued: 97, failed: 1, invalid: 1 });
      const report = await readReportOf(result);
      expect(report.counts).toMatchObject({ issued: 97, failed: 1, invalid: 1 });
      expect(await stack.line(result.batchId, 'F-98')).toMatchObject({ state: 'failed' });
      await expectAgreement(stack, result.batchId);
    });
  });

  it('is the same on the embedded ledger', async () => {
    await withStack({ ledger: 'pglite' }, async (stack) => {
      const result = await stack.run('embedded.csv', testInvoices(60));

      expect(result.counts).toMatchObject({ invoices: 60, issued: 60 });
      await expectAgreement(stack, result.batchId);
    });
  });
});
