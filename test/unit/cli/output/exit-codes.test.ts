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
    ['internal', EXIT.unreachable],
  ])('an error %s ends a command with %i', (code, exitCode) => {
    expect(exitCodeOf(new LoteError(code, 'x'))).toBe(exitCode);
  });

  it('an error of another origin is no mistake of the caller', () => {
    for (const error of [new TypeError('x'), Object.assign(new Error('x'), { code: 'usage' }), 'usage', undefined])
      expect(exitCodeOf(error)).toBe(EXIT.unreachable);
  });
});

describe('the exit code of a batch', () => {
  const notIssued = (['failed', 'rejected', 'unknown', 'unsettled', 'held', 'invalid', 'conflict'] as const).map(
    (state) => [`one ${state}`, 'finished', { invoices: 3, issued: 2, [state]: 1 }, 1] as const,
  );

  it.each<readonly [string, 'refused' | 'cancelled' | 'finished', Counts, number]>([
    ['every invoice issued, now or earlier', 'finished', { invoices: 3, issued: 1, 'already-issued': 2 }, 0],
    ['one of them in doubt, which is said otherwise', 'finished', { invoices: 3, issued: 3, contradicted: 1 }, 0],
    ...notIssued,
    ['a totals row, which is no data', 'finished', { invoices: 3, issued: 3, rowsWithoutInvoice: 1, rowsLost: 0 }, 0],
    ['a totals row and a lost row', 'finished', { invoices: 3, issued: 3, rowsWithoutInvoice: 2, rowsLost: 1 }, 1],
    ['cancelled, though everything is issued', 'cancelled', { invoices: 3, issued: 3 }, 1],
    ['a refused file, whatever was counted', 'refused', { invoices: 1, issued: 1 }, 2],
  ])('%s (%s)', (_, state, counts, exitCode) => {
    expect(batchExitCode({ state, counts })).toBe(exitCode);
  });

  it('is 1 where the file differs from its declared control totals, though every invoice of it is issued', () => {
    const counts = { invoices: 3, 'already-issued': 3 };
    expect(batchExitCode({ state: 'finished', counts, totalsDiffer: 'expected 4 invoices, found 3' })).toBe(1);
  });
});
