import { expect, it } from 'vitest';
import { awaitsConfirmation, type TotalCheck } from '../../../../../src/domain/records/total-check.ts';

const TOTAL = { invoices: 1, net: { EUR: '1' } };
const UNUSUAL: TotalCheck = { kind: 'unusual', batches: 5, factor: 3, usual: TOTAL, difference: 'more' };
const USUAL: TotalCheck = { kind: 'usual', batches: 5, factor: 3, usual: TOTAL };

it.each<readonly [string, TotalCheck | null, number | null, boolean]>([
  ['that is unusual is waited for', UNUSUAL, null, true],
  ['that is unusual and confirmed is not', UNUSUAL, 1, false],
  ['that is usual is not', USUAL, null, false],
  ['that was declared is not', { kind: 'declared' }, null, false],
  ['that was never checked is not', null, null, false],
])('the confirmation of a total %s', (_title, check, confirmedAt, awaits) => {
  const saved = check === null ? null : { pattern: 'p', total: TOTAL, check, confirmedAt };

  expect(awaitsConfirmation(saved)).toBe(awaits);
});
