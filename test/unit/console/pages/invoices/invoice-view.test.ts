import { describe, expect, it } from 'vitest';
import { OUTCOMES } from '../../../../../src/domain/invoice-state.ts';
import { settledCount } from '../../../../../src/domain/outcome-counts.ts';
import { invoiceView } from '../../../../../src/console/pages/invoices/invoice-view.ts';
import { PROBLEM_STATES, STATE_ORDER, stateCounts, toneOf } from '../../../../../src/console/pages/state-counts.ts';

const count = (outcome: (typeof OUTCOMES)[number], invoices: number, currency = 'EUR') => ({
  outcome,
  currency,
  invoices,
  net: '1',
  withoutAmount: 0,
});

describe('invoiceView', () => {
  it('shows problems first where there are any, everything otherwise', () => {
    const query = { show: undefined, page: undefined };

    expect(invoiceView(stateCounts([count('issued', 3), count('held', 1)]), query).show).toBe('problems');
    expect(invoiceView(stateCounts([count('issued', 3), count('accepted', 1)]), query).show).toBe('all');
  });

  it.each([
    ['all', '1', 1, 3],
    ['all', '3', 3, 3],
    ['all', '4', 3, 3],
    ['issued', '9', 2, 2],
    ['failed', '2', 1, 1],
    ['held', '2', 1, 1],
  ])('of %s, page %s is page %i of %i', (show, page, expected, pages) => {
    const counts = stateCounts([count('issued', 75), count('failed', 50)]);

    expect(invoiceView(counts, { show, page })).toMatchObject({ show, page: expected, pages });
  });
});

describe('stateCounts', () => {
  it('sums over currencies and names every state', () => {
    const counts = stateCounts([count('issued', 2), count('issued', 3, 'BRL')]);

    expect(counts.issued).toBe(5);
    expect(Object.keys(counts).sort()).toEqual([...OUTCOMES].sort());
  });
});

describe('the order of states', () => {
  it('holds each state once', () => {
    expect([...STATE_ORDER].sort()).toEqual([...OUTCOMES].sort());
  });

  it('divides them into problems, work in progress and what went out', () => {
    const rest = STATE_ORDER.filter((state) => !PROBLEM_STATES.includes(state));

    expect(rest.filter((state) => toneOf(state) === 'good')).toEqual(['issued', 'already-issued']);
    expect(rest.filter((state) => toneOf(state) === 'under-way')).toEqual(['staged', 'sending', 'accepted']);
  });

  it('counts as at rest what Lote has nothing to do for', () => {
    expect(settledCount(stateCounts(OUTCOMES.map((state) => count(state, 1))))).toBe(OUTCOMES.length - 3);
  });
});
