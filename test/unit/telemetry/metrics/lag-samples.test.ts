import { describe, expect, it } from 'vitest';
import { createLagSamples } from '../../../../src/telemetry/metrics/lag-samples.ts';

describe('samples of the lag', () => {
  it('are of a bounded size, however many invoices settle, and of invoices that did', async () => {
    const read: number[][] = [];
    const lags: number[] = [];
    const samples = createLagSamples({
      ledger: {
        async measureLag(invoices) {
          read.push(invoices.map(({ ordinal }) => ordinal));
          return invoices.map(({ ordinal }) => ({ state: 'issued' as const, ms: ordinal }));
        },
      },
      record: (ms) => void lags.push(ms),
      random: Math.random,
    });
    samples.add(Array.from({ length: 50_000 }, (_, ordinal) => ({ batchId: 'b', ordinal })));

    await samples.flush();

    expect(read).toHaveLength(1);
    expect(new Set(read[0]).size).toBe(100);
    expect(lags).toHaveLength(100);
    // Not the first hundred: the chance of that is nil.
    expect(Math.max(...lags)).toBeGreaterThan(1_000);
  });

  it('that cannot be read are lost without a word', async () => {
    const ledger = { measureLag: () => Promise.reject(new Error('The ledger is away')) };
    const samples = createLagSamples({ ledger, record: () => undefined, random: Math.random });
    samples.add([{ batchId: 'b', ordinal: 1 }]);

    await expect(samples.flush()).resolves.toBeUndefined();
  });
});
