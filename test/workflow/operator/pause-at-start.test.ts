import { describe, expect, it } from 'vitest';
import type { ReasonInput } from '../../../src/contract/messages.ts';
import type { BatchHandle } from '../../../src/wiring/temporal/batch-starter.ts';
import { testInvoices } from '../../support/files/batch-file.ts';
import { withStack } from '../../support/lote/stack.ts';

const BATCHES = 12;
const INVOICES = 8;
const ORDERS = 3;

/** Pauses and resumes the batch again and again while it begins; the last word is to go on. */
async function pauseAndResume(handle: BatchHandle): Promise<void> {
  for (let orders = 0; orders < ORDERS;) {
    const isTaken = await handle.executeUpdate<string, [ReasonInput]>('pause', { args: [{ reason: 'a look' }] }).then(
      () => true,
      () => false,
    );
    if (isTaken) {
      orders += 1;
      await handle.executeUpdate<string, []>('resume');
    }
  }
}

describe('a batch that is paused and resumed while its pages begin', { timeout: 180_000 }, () => {
  it('goes on with each page: one that was not there yet could not be notified', async () => {
    await withStack({ env: { LOTE_PAGE_SIZE: '1' } }, async (stack) => {
      const ends = Array.from({ length: BATCHES }, async (_, at) => {
        const file = `batch-${at}.csv`;
        await stack.drop(file, testInvoices(INVOICES, {}, at * INVOICES + 1));
        const { handle } = await stack.start({ file });
        await pauseAndResume(handle);
        return handle.result();
      });

      for (const { counts } of await Promise.all(ends)) expect(counts).toMatchObject({ issued: INVOICES });
    });
  });
});
