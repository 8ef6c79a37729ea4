import { describe, expect, it } from 'vitest';
import { countsByOutcome, everyCountByOutcome, issuedCount, settledCount } from '../../../src/domain/outcome-counts.ts';
import { OUTCOMES } from '../../../src/domain/invoice-state.ts';

describe('invoices at rest', () => {
  it('are those in every outcome but the three that are open', () => {
    const open = OUTCOMES.filter((state) => settledCount({ [state]: 7 }) !== 7);

    expect(open).toEqual(['staged', 'sending', 'accepted']);
    expect(open.map((state) => settledCount({ [state]: 7 }))).toEqual([0, 0, 0]);
  });

  it('are summed over states', () => {
    expect(settledCount({ issued: 3, held: 2, sending: 9, accepted: 1 })).toBe(5);
    expect(settledCount({})).toBe(0);
  });
});

describe('the invoices that went out', () => {
  it.each([
    [{ issued: 2 }, 2],
    [{ 'already-issued': 3 }, 3],
    [{ issued: 2, 'already-issued': 3, failed: 9 }, 5],
    [{}, 0],
  ])('of %j are %i', (counts, issued) => {
    expect(issuedCount(counts)).toBe(issued);
  });
});

describe('invoices by outcome', () => {
  it('are summed over currencies, and an outcome without one has no entry', () => {
    const counts = [
      { outcome: 'issued', invoices: 3 },
      { outcome: 'held', invoices: 2 },
      { outcome: 'issued', invoices: 4 },
    ] as const;

    expect(countsByOutcome(counts)).toEqual({ issued: 7, held: 2 });
    expect(countsByOutcome([])).toEqual({});
    expect(everyCountByOutcome(counts)).toMatchObject({ issued: 7, held: 2, failed: 0 });
    expect(Object.keys(everyCountByOutcome([]))).toEqual([...OUTCOMES]);
  });
});
