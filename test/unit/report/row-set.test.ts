import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRowSet } from '../../../src/report/build-report.ts';

describe('createRowSet', () => {
  it('knows each row it has seen, across word and block borders', () => {
    const isNew = createRowSet();
    const borders = [0, 1, 31, 32, 33, 63, 64, 65_535, 65_536, 65_537, 1_000_000, 2 ** 31, 2 ** 40];

    expect(borders.map((row) => isNew(row))).toEqual(borders.map(() => true));
    expect(borders.map((row) => isNew(row))).toEqual(borders.map(() => false));
  });

  it('says what a set of numbers would say', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 200_000 }), { maxLength: 300 }), (drawn) => {
        const isNew = createRowSet();
        const model = new Set<number>();

        for (const row of drawn) {
          expect(isNew(row)).toBe(!model.has(row));
          model.add(row);
        }
      }),
    );
  });
});
