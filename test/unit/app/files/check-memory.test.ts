import { expect, it } from 'vitest';
import type { RawRow } from '../../../../src/domain/row.ts';
import { boundedRows } from '../../../../src/app/files/check-file.ts';

const HEAP_BYTES = 10_000;

it('rows of a check that take more than half of the memory are refused, with the row that was too much', () => {
  const row: RawRow = { row: 2, nif: '1', ref: 'A', object: null, cells: ['x'.repeat(1_000)] };
  const keep = boundedRows(HEAP_BYTES);
  keep([row]);

  const more = (): void => keep([row, { ...row, row: 3 }]);

  expect(more).toThrow(expect.objectContaining({ code: 'usage' }));
  expect(more).toThrow(/found more up to row 3\. Nothing of it was checked, and nothing was sent\. Split the file/u);
});
