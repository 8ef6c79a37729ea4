import { describe, expect, it } from 'vitest';
import { createForbiddenRun } from '../../../activities/forbidden-run.ts';
import type { SendableInvoice } from '../../../src/domain/ports/ledger.ts';

function invoice(invoiceId: number): SendableInvoice {
  return { invoiceId } as SendableInvoice;
}

function idsOf(invoices: readonly SendableInvoice[]): readonly number[] {
  return invoices.map(({ invoiceId }) => invoiceId);
}

describe('a run of 403s', () => {
  it('refuses one by itself when a request that left after it succeeds', () => {
    const run = createForbiddenRun();

    expect(run.forbidden(invoice(1), 100)).toBe('undecided');
    expect(run.succeeded(99)).toEqual([]);
    expect(idsOf(run.succeeded(100))).toEqual([1]);
    expect(run.end(1)).toEqual({ refused: [], shut: false });
  });

  it('of five without a success between is the key, and what else was on the wire is not to blame', () => {
    const run = createForbiddenRun();

    const verdicts = [1, 2, 3, 4, 5, 6].map((id) => run.forbidden(invoice(id), id));

    expect(verdicts).toEqual(['undecided', 'undecided', 'undecided', 'undecided', 'shut', 'shut']);
    expect(run.succeeded(1_000)).toEqual([]);
    expect(run.end(10)).toEqual({ refused: [], shut: false });
  });

  it('starts anew after a success', () => {
    const run = createForbiddenRun();
    for (const id of [1, 2, 3, 4]) run.forbidden(invoice(id), id);
    run.succeeded(10);

    expect(run.forbidden(invoice(5), 20)).toBe('undecided');
  });

  it('at the end of a slice refuses the few that are left if others succeeded, and else it is the key', () => {
    const some = createForbiddenRun();
    some.forbidden(invoice(1), 1);
    expect(idsOf(some.end(3).refused)).toEqual([1]);

    const none = createForbiddenRun();
    none.forbidden(invoice(1), 1);
    expect(none.end(0)).toEqual({ refused: [], shut: true });
  });
});
