import { describe, expect, it, vi } from 'vitest';
import { createLedgerSnapshot, type LedgerSource } from '../../../../src/health/metrics/open-metrics.ts';
import type { MeasuredBatch } from '../../../../src/ledger/operations/measuring.ts';

const NOW = 1_700_000_000_000;
const NEVER = { countBatches: {}, breaker: null };

/** A ledger with these batches, which counts how often each is asked for. */
function ledgerOf(batches: () => readonly MeasuredBatch[]) {
  const asked: string[] = [];
  return {
    asked,
    ledger: {
      countBatches: async () => NEVER.countBatches,
      breaker: async () => NEVER.breaker,
      measuredBatches: async () => batches(),
      measureDoubt: async () => 1,
      measureInvoices: async (batchId: string) => {
        asked.push(batchId);
        return [{ state: 'accepted' as const, invoices: 2, oldestAt: NOW - 5_000 }];
      },
    },
  };
}

function sourceOf(ledger: LedgerSource['ledger'], baseUrl: string | null): LedgerSource {
  return { ledger, application: 'a', baseUrl: () => baseUrl };
}

const OPEN: MeasuredBatch = { batchId: 'open', state: 'running', revision: 0 };
const CLOSED: MeasuredBatch = { batchId: 'closed', state: 'finished', revision: 1 };

describe('figures of the ledger', () => {
  it('are read once for many scrapes', async () => {
    const { ledger, asked } = ledgerOf(() => [OPEN]);
    const snapshot = createLedgerSnapshot(
      () => sourceOf(ledger, 'http://service'),
      () => NOW,
    );

    const figures = await Promise.all(Array.from({ length: 50 }, () => snapshot()));

    expect(asked).toEqual(['open']);
    expect(figures[49]).toMatchObject({ at: NOW, oldestAt: NOW - 5_000, breakerOpen: false });
    expect(figures[49]?.invoices.get('accepted')).toBe(2);
  });

  it('are read anew after a rest', async () => {
    const { ledger, asked } = ledgerOf(() => [OPEN, CLOSED]);
    const clock = vi.spyOn(performance, 'now').mockReturnValue(0);
    try {
      const snapshot = createLedgerSnapshot(
        () => sourceOf(ledger, null),
        () => NOW,
      );
      await snapshot();
      clock.mockReturnValue(4_000);
      await snapshot();
      expect(asked).toEqual(['open', 'closed']);
      clock.mockReturnValue(6_000);
      expect((await snapshot())?.invoices.get('accepted')).toBe(4);
      expect(asked).toEqual(['open', 'closed', 'open', 'closed']);
    } finally {
      clock.mockRestore();
    }
  });

  it('that cannot be read leave the earlier ones as they are, and fail no scrape', async () => {
    const { ledger } = ledgerOf(() => {
      throw new Error('The ledger is away');
    });
    const snapshot = createLedgerSnapshot(
      () => sourceOf(ledger, null),
      () => NOW,
    );

    await expect(snapshot()).resolves.toBeNull();
  });
});
