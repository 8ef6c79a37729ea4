import { describe, expect, it } from 'vitest';
import type { InvoiceState } from '../../../src/domain/invoice-state.ts';
import {
  INVOICE_STATES,
  isProblem,
  OPEN_STATES,
  OUTCOMES,
  REOPENING_STATES,
  wentOut,
} from '../../../src/domain/invoice-state.ts';

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
