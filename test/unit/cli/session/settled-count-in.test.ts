import { describe, expect, it } from 'vitest';
import { settledCountIn } from '../../../../src/cli/session/settled-count-in.ts';
import type { OutcomeCount } from '../../../../src/domain/ports/ledger/batch-record.ts';

describe('invoices at rest', () => {
  it('are read from the ledger of one batch, which counts a state once for each currency', async () => {
    const asked: string[] = [];
    const count = (outcome: OutcomeCount['outcome'], currency: string, invoices: number): OutcomeCount => ({
      ...{ outcome, currency, invoices, net: '0', withoutAmount: 0 },
    });
    const ledger = {
      countOutcomes(batchId: string) {
        asked.push(batchId);
        return Promise.resolve([count('issued', 'EUR', 3), count('issued', 'USD', 2), count('staged', 'EUR', 9)]);
      },
    };

    expect(await settledCountIn(ledger, 'batch-x')).toBe(5);
    expect(asked).toEqual(['batch-x']);
  });
});
