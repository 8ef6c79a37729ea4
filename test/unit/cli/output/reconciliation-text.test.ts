import { describe, expect, it } from 'vitest';
import { reconciliationText } from '../../../../src/cli/commands/operate/reconcile.ts';

const RESULT = {
  ...{ repeated: 3, found: 1, asked: 5, settled: 4, serviceAway: false },
  ...{ orphans: [], stopped: [], reports: ['one-batch'], unwritten: [] },
} as const;

describe('what a reconciliation prints', () => {
  it('says what it did', () => {
    expect(reconciliationText(RESULT)).toBe(
      [
        'Unknown invoices repeated 3, of them found 1',
        'Documents asked for 5, of them settled 4',
        'Reports written again 1: one-batch',
        '',
      ].join('\n'),
    );
  });

  it('says first which batches it closed, and what is left to do with them', () => {
    const text = reconciliationText({ ...RESULT, orphans: ['lost-1', 'lost-2'] });

    expect(text).toMatch(/^Batches without a run closed 2: lost-1, lost-2\. Read their reports\.\n/u);
  });

  it('names the stopped batches that it left alone, and how a person continues them', () => {
    const text = reconciliationText({ ...RESULT, stopped: ['batch-1'] });

    expect(text).toMatch(
      /^Stopped batches with unknown invoices 1: batch-1\. None of them was repeated: run the file/u,
    );
  });

  it('names the service only when it was asked and did not answer', () => {
    const unanswered = reconciliationText({ ...RESULT, serviceAway: true });
    const notAsked = reconciliationText({ ...RESULT, serviceAway: true, profileFoundWrong: true });

    expect(unanswered).toContain('The service did not answer');
    expect(notAsked).toContain('the service profile was found to be wrong');
    expect(notAsked).not.toContain('did not answer');
  });
});
