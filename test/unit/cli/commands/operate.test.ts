import { describe, expect, it } from 'vitest';
import { reconciliationText, rowsOfRefs } from '../../../../src/cli/commands/operate.ts';
import type { ReconciliationResult } from '../../../../src/domain/messages/messages.ts';
import type { Session } from '../../../../src/cli/session/open-session.ts';

describe('references of a retry', () => {
  /** A batch whose invoices have these rows. */
  function batchWith(rows: Readonly<Record<string, readonly number[]>>): Pick<Session, 'operations'> {
    const found = Object.entries(rows).map(([ref, of]) => ({ ref, rows: of }));
    return { operations: { rowsOfRefs: () => Promise.resolve(found) } as unknown as Session['operations'] };
  }

  it('become the rows of exactly these invoices', async () => {
    expect(await rowsOfRefs(batchWith({ 'F/3': [4], 'F/1': [2, 3] }), 'batch-a', ['F/3', 'F/1'])).toEqual([4, 2, 3]);
  });

  it.each([
    [['F/1', 'F/9'], '1 of 2 are not: F/9. Nothing was sent.'],
    [['a', 'b', 'c', 'd', 'e', 'f'], '6 of 6 are not: a, b, c, d, e. Nothing was sent.'],
  ])('%j are refused as a whole: half a retry is not what was asked for', async (refs, words) => {
    await expect(rowsOfRefs(batchWith({ 'F/1': [2] }), 'batch-a', refs)).rejects.toMatchObject({
      code: 'usage',
      message: `Retrying by reference: each must be one of batch batch-a, but ${words}`,
    });
  });
});

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
