import { describe, expect, it } from 'vitest';
import { createForbiddenRun } from '../../../../activities/sending/forbidden-run.ts';
import type { SendableInvoice } from '../../../../src/domain/ports/ledger/sending-ledger.ts';

function invoice(invoiceId: number, nif = '501964843'): SendableInvoice {
  return { invoiceId, invoice: { merchant: { nif } } } as SendableInvoice;
}

function idsOf(invoices: readonly SendableInvoice[]): readonly number[] {
  return invoices.map(({ invoiceId }) => invoiceId);
}

describe('a run of 403s', () => {
  it('refuses one by itself when a request that left after it succeeds', () => {
    const run = createForbiddenRun(1);

    expect(run.forbidden(invoice(1), 100)).toBe('undecided');
    expect(run.succeeded(invoice(99), 99)).toEqual([]);
    expect(idsOf(run.succeeded(invoice(99), 100))).toEqual([1]);
    expect(run.end(1)).toEqual({ refused: [], accessDenied: false });
  });

  it('of five without a success between is the key, and what else was on the wire is not to blame', () => {
    const run = createForbiddenRun(1);

    const verdicts = [1, 2, 3, 4, 5, 6].map((id) => run.forbidden(invoice(id), id));

    expect(verdicts).toEqual(['undecided', 'undecided', 'undecided', 'undecided', 'access-denied', 'access-denied']);
    expect(run.succeeded(invoice(99), 1_000)).toEqual([]);
    expect(run.end(10)).toEqual({ refused: [], accessDenied: false });
  });

  it('starts anew after a success', () => {
    const run = createForbiddenRun(1);
    for (const id of [1, 2, 3, 4]) run.forbidden(invoice(id), id);
    run.succeeded(invoice(99), 10);

    expect(run.forbidden(invoice(5), 20)).toBe('undecided');
  });

  it('at the end of a slice refuses the few that are left if others succeeded, and else it is the key', () => {
    const some = createForbiddenRun(1);
    some.forbidden(invoice(1), 1);
    const ended = some.end(3);
    expect(idsOf(ended.refused)).toEqual([1]);
    expect(ended.accessDenied).toBe(false);

    const none = createForbiddenRun(1);
    none.forbidden(invoice(1), 1);
    expect(none.end(0)).toEqual({ refused: [], accessDenied: true });
  });

  it('that never came is no proof against the key, whether anything succeeded or not', () => {
    expect(createForbiddenRun(1).end(0)).toEqual({ refused: [], accessDenied: false });
    expect(createForbiddenRun(1).end(3)).toEqual({ refused: [], accessDenied: false });
  });

  it('of one merchant is no proof against the key while there are others to ask', () => {
    const run = createForbiddenRun(2);

    for (const id of [1, 2, 3, 4]) run.forbidden(invoice(id, 'one'), id);
    expect(run.isHeldBack(invoice(9, 'one'))).toBe(false);
    expect(run.forbidden(invoice(5, 'one'), 5)).toBe('undecided');

    expect(run.isHeldBack(invoice(9, 'one'))).toBe(true);
    expect(run.isHeldBack(invoice(9, 'other'))).toBe(false);
  });

  it('of one merchant is its own when another succeeds after it: what is left of it is not sent', () => {
    const run = createForbiddenRun(2);
    for (const id of [1, 2, 3, 4, 5, 6]) run.forbidden(invoice(id, 'one'), id);

    expect(idsOf(run.succeeded(invoice(9, 'other'), 10))).toEqual([1, 2, 3, 4, 5, 6]);
    expect(run.end(1)).toEqual({ refused: [], accessDenied: false });
    expect(run.refusedMerchants()).toEqual(['one']);
  });

  it('that another merchant goes on with is the key, and no merchant is to blame', () => {
    const run = createForbiddenRun(2);
    for (const id of [1, 2, 3, 4, 5]) run.forbidden(invoice(id, 'one'), id);

    expect(run.forbidden(invoice(6, 'other'), 6)).toBe('access-denied');
    expect(run.refusedMerchants()).toEqual([]);
    expect(run.end(3)).toEqual({ refused: [], accessDenied: false });
  });

  it('of a merchant that succeeds after all does not keep the rest of it', () => {
    const run = createForbiddenRun(2);
    for (const id of [1, 2, 3, 4, 5]) run.forbidden(invoice(id, 'one'), id);

    run.succeeded(invoice(6, 'one'), 10);

    expect(run.isHeldBack(invoice(7, 'one'))).toBe(false);
    expect(run.refusedMerchants()).toEqual([]);
  });

  it('of one merchant without any success is the key', () => {
    const run = createForbiddenRun(2);
    for (const id of [1, 2, 3, 4, 5]) run.forbidden(invoice(id, 'one'), id);

    expect(run.end(0)).toEqual({ refused: [], accessDenied: true });
    expect(run.refusedMerchants()).toEqual([]);
  });
});
