import { describe, expect, it } from 'vitest';
import { reconciliationText } from '../../../../src/cli/commands/operate.ts';
import type { ReconciliationResult } from '../../../../src/domain/messages/messages.ts';

describe('what a reconciliation prints', () => {
  const RESULT = {
    ...{ repeated: 3, found: 1, asked: 5, settled: 4, serviceAway: false },
    ...{ orphans: [], stopped: [], reports: ['one-batch'], unwritten: [] },
  } as const;

  it('says what it did', () => {
    expect(reconciliationText(RESULT)).toBe(
      'Unknown invoices repeated 3, of them found 1\nDocuments asked for 5, of them settled 4\nReports written again 1: one-batch\n',
    );
  });

  it.each<[Partial<ReconciliationResult>, RegExp]>([
    [{ orphans: ['lost-1', 'lost-2'] }, /^Batches without a run closed 2: lost-1, lost-2\. Read their reports\.\n/u],
    [{ stopped: ['batch-1'] }, /^Stopped batches with unknown invoices 1: batch-1\. None of them was repeated: run/u],
    [{ serviceAway: true }, /The service did not answer/u],
    [
      { serviceAway: true, profileFoundWrong: true },
      /^(?!.*did not answer).*the service profile was found to be wrong/su,
    ],
  ])('names what is left, and why: %j', (left, words) => {
    expect(reconciliationText({ ...RESULT, ...left })).toMatch(words);
  });
});
