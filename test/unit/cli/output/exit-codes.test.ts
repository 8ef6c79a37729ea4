import { describe, expect, it } from 'vitest';
import { EXIT, batchExitCode, exitCodeOf } from '../../../../src/cli/output/exit-codes.ts';
import { LoteError, type LoteErrorCode } from '../../../../src/domain/errors.ts';
import type { Counts } from '../../../../src/domain/messages/messages.ts';

describe('exit codes', () => {
  it('are those that docs/operating.md and other people’s scripts count on', () => {
    expect(EXIT).toEqual({ ok: 0, someNotIssued: 1, refused: 2, unreachable: 3, usage: 64, interrupted: 130 });
  });

  it.each<[LoteErrorCode, number]>([
    ['usage', EXIT.usage],
    ['configuration-invalid', EXIT.usage],
    ['file-unreadable', EXIT.usage],
    ['batch-not-found', EXIT.usage],
    ['interrupted', EXIT.interrupted],
    ['service-unauthorized', EXIT.unreachable],
    ['ledger-unavailable', EXIT.unreachable],
    ['worker-missing', EXIT.unreachable],
    ['interlock', EXIT.unreachable],
    ['internal', EXIT.unreachable],
  ])('an error %s ends a command with %i', (code, exitCode) => {
    expect(exitCodeOf(new LoteError(code, 'x'))).toBe(exitCode);
  });

  it.each([
    ['an error of somebody else', new TypeError('x is not a function')],
    ['an error that looks like one of ours', Object.assign(new Error('x'), { code: 'usage' })],
    ['a thrown text', 'usage'],
    ['nothing', undefined],
  ])('%s is no mistake of the caller', (_, error) => {
    expect(exitCodeOf(error)).toBe(EXIT.unreachable);
  });
});

describe('the exit code of a batch', () => {
  const CASES: readonly (readonly [string, 'refused' | 'cancelled' | 'finished', Counts, number])[] = [
    ['every invoice issued', 'finished', { invoices: 3, issued: 3 }, 0],
    ['every invoice issued by an earlier batch', 'finished', { invoices: 3, 'already-issued': 3 }, 0],
    ['issued now and earlier', 'finished', { invoices: 3, issued: 1, 'already-issued': 2 }, 0],
    ['one failed', 'finished', { invoices: 3, issued: 2, failed: 1 }, 1],
    ['one rejected', 'finished', { invoices: 3, issued: 2, rejected: 1 }, 1],
    ['one unknown', 'finished', { invoices: 3, issued: 2, unknown: 1 }, 1],
    ['one unsettled', 'finished', { invoices: 3, issued: 2, unsettled: 1 }, 1],
    ['one held', 'finished', { invoices: 3, issued: 2, held: 1 }, 1],
    ['one invalid', 'finished', { invoices: 3, issued: 2, invalid: 1 }, 1],
    ['one in conflict', 'finished', { invoices: 3, issued: 2, conflict: 1 }, 1],
    ['a row that is in no invoice', 'finished', { invoices: 3, issued: 3, rowsWithoutInvoice: 1, rowsLost: 1 }, 1],
    ['a totals row, which is no data', 'finished', { invoices: 3, issued: 3, rowsWithoutInvoice: 1, rowsLost: 0 }, 0],
    ['a totals row and a lost row', 'finished', { invoices: 3, issued: 3, rowsWithoutInvoice: 2, rowsLost: 1 }, 1],
    ['cancelled, though everything is issued', 'cancelled', { invoices: 3, issued: 3 }, 1],
    ['cancelled with something held', 'cancelled', { invoices: 3, issued: 1, held: 2 }, 1],
    ['a refused file', 'refused', { rows: 12 }, 2],
    ['a refused file, whatever was counted', 'refused', { invoices: 1, issued: 1 }, 2],
  ];

  it.each(CASES)('%s (%s)', (_, state, counts, exitCode) => {
    expect(batchExitCode({ state, counts })).toBe(exitCode);
  });

  it('is 0 where every invoice is issued, also where one of them is in doubt, which is said otherwise', () => {
    expect(batchExitCode({ state: 'finished', counts: { invoices: 3, issued: 3, contradicted: 1 } })).toBe(0);
  });

  it('is 1 where the file differs from its declared control totals, though every invoice of it is issued', () => {
    const counts = { invoices: 3, 'already-issued': 3 };
    expect(batchExitCode({ state: 'finished', counts, totalsDiffer: 'expected 4 invoices, found 3' })).toBe(1);
    expect(batchExitCode({ state: 'refused', counts, totalsDiffer: 'expected 4 invoices, found 3' })).toBe(2);
  });
});
