import { describe, expect, it } from 'vitest';
import { DecimalEvidence } from '../../../../src/ingest/csv/decimal-evidence.ts';
import { refusalOf } from '../ingested.ts';

function evidenceOf(...cells: string[]): DecimalEvidence {
  const evidence = new DecimalEvidence();
  cells.forEach((cell, at) => evidence.observe(at + 2, 'unit_price', cell));
  return evidence;
}

function witness(row: number, value: string) {
  return { row, column: 'unit_price', value };
}

describe('DecimalEvidence', () => {
  it('is proved by the first value that only one mark can read', () => {
    expect(evidenceOf('12', '1.234', '1.234,56').decide()).toEqual({
      ...{ mark: ',', how: 'proved', witness: witness(4, '1.234,56') },
      ...{ ambiguous: witness(3, '1.234'), thousands: witness(3, '1.234'), grouping: witness(4, '1.234,56') },
    });
    expect(evidenceOf('1.234', '2.5').decide()).toEqual({
      ...{ mark: '.', how: 'proved', witness: witness(3, '2.5'), ambiguous: witness(2, '1.234') },
    });
  });

  it.each([
    ['1,500', '2.5'],
    ['1.500', '2,5'],
    ['1.500', '1 234,50'],
    ['1,549', '.95'],
    ['１，５００', '0.5'],
  ])('takes %s for no thousand only because %s proves the other mark', async (cell, other) => {
    const found = await refusalOf(() => evidenceOf(cell, other).decide());

    expect(found).toMatchObject({ code: 'decimal-unproved', row: 2 });
  });

  it.each([
    ['1,500', '1,234.50'],
    ['1,500', '1,234,567'],
    ['1.500', '1.234,50 €'],
  ])('takes %s for a thousand where %s groups its own', (cell, other) => {
    expect(evidenceOf(cell, other).decide()).toMatchObject({
      ...{ how: 'proved', thousands: witness(2, cell), grouping: witness(3, other) },
    });
  });

  it('needs no proof when no value depends on the mark', () => {
    expect(evidenceOf('12', '1 234', 'abc', '').decide()).toEqual({ mark: '.', how: 'either', witness: null });
  });

  it('believes a declaration where the file proves nothing, and never against it', () => {
    const [doubtful, thousands] = [witness(2, '1.234'), witness(2, '1.234')];
    const said = { mark: ',', how: 'declared', witness: null, ambiguous: doubtful, thousands };

    expect(evidenceOf('1.234').decide(',')).toEqual(said);
    expect(() => evidenceOf('2.5', '3,75').decide('.')).toThrow(/"2\.5" in row 2.*"3,75" in row 3/);
    expect(() => evidenceOf('1,234', '2,50').decide('.')).toThrow(/"2,50" in row 3 can only be read with a decimal/);
  });

  it('takes the point of a JSON token for what it is', () => {
    const evidence = evidenceOf('1.234');
    evidence.observeToken(3, 'unit_price', '1.234');

    expect(evidence.decide()).toMatchObject({ mark: '.', how: 'proved' });
  });
});
