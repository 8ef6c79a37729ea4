import { describe, expect, it } from 'vitest';
import { countsByOutcome, everyCountByOutcome, issuedCount, settledCount } from '../../../src/domain/outcome-counts.ts';
import {
  OUTCOMES,
  type InvoiceState,
  INVOICE_STATES,
  isProblem,
  OPEN_STATES,
  REOPENING_STATES,
  wentOut,
} from '../../../src/domain/invoice-state.ts';

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

describe('the lists of states', () => {
  it('open a closed batch again for everything that may still move by itself or by the next run', () => {
    const final: readonly InvoiceState[] = ['issued', 'failed', 'rejected'];

    expect([...REOPENING_STATES].toSorted()).toEqual(
      INVOICE_STATES.filter((state) => !final.includes(state)).toSorted(),
    );
    for (const state of OPEN_STATES) expect(REOPENING_STATES).toContain(state);
  });
});

describe('what an outcome means for a person', () => {
  it('is one of three: it went out, Lote is at it, or a person has to look', () => {
    expect(OUTCOMES.filter(wentOut)).toEqual(['issued', 'already-issued']);
    expect(OUTCOMES.filter(isProblem).join(' ')).toBe('failed rejected unknown unsettled held invalid conflict');
    expect(OUTCOMES.filter((outcome) => !wentOut(outcome) && !isProblem(outcome))).toEqual(OPEN_STATES);
  });
});
