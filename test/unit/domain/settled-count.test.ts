import { describe, expect, it } from 'vitest';
import { settledCount, settledCountIn } from '../../../src/domain/settled-count.ts';
import { OUTCOMES } from '../../../src/domain/invoice-state.ts';
import type { OutcomeCount } from '../../../src/domain/ports/ledger.ts';

describe('invoices at rest', () => {
  it.each([
    ['staged', 0],
    ['sending', 0],
    ['accepted', 0],
    ['issued', 7],
    ['failed', 7],
    ['rejected', 7],
    ['unknown', 7],
    ['unsettled', 7],
    ['held', 7],
    ['invalid', 7],
    ['conflict', 7],
    ['already-issued', 7],
  ])('7 %s are %i of them', (state, rest) => {
    expect(settledCount({ [state]: 7 })).toBe(rest);
  });

  it('are told for every outcome there is: the table above leaves none out', () => {
    expect(OUTCOMES).toHaveLength(12);
  });

  it('are summed over states', () => {
    expect(settledCount({ issued: 3, held: 2, sending: 9, accepted: 1 })).toBe(5);
    expect(settledCount({})).toBe(0);
  });

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
