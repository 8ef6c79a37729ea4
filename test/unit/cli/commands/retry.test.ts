import { expect, it } from 'vitest';
import { rowsOfRefs } from '../../../../src/cli/commands/operate/retry.ts';
import type { Session } from '../../../../src/cli/session/open-session.ts';

/** A batch whose invoices have these rows. */
function batchWith(rows: Readonly<Record<string, readonly number[]>>): Pick<Session, 'operations'> {
  const found = Object.entries(rows).map(([ref, of]) => ({ ref, rows: of }));
  return { operations: { rowsOfRefs: () => Promise.resolve(found) } as unknown as Session['operations'] };
}

it('references become the rows of exactly these invoices', async () => {
  expect(await rowsOfRefs(batchWith({ 'F/3': [4], 'F/1': [2, 3] }), 'batch-a', ['F/3', 'F/1'])).toEqual([4, 2, 3]);
});

it.each([
  [['F/1', 'F/9'], '1 of 2 are not: F/9. Nothing was sent.'],
  [['a', 'b', 'c', 'd', 'e', 'f'], '6 of 6 are not: a, b, c, d, e. Nothing was sent.'],
])('references %j are refused as a whole: half a retry is not what was asked for', async (refs, words) => {
  await expect(rowsOfRefs(batchWith({ 'F/1': [2] }), 'batch-a', refs)).rejects.toMatchObject({
    code: 'usage',
    message: `Retrying by reference: each must be one of batch batch-a, but ${words}`,
  });
});
