import { describe, expect, it } from 'vitest';
import { DecimalEvidence } from '../../../../src/ingest/csv/decimal-evidence.ts';
import { Refusal } from '../../../../src/ingest/refusal.ts';

function evidenceOf(...cells: string[]): DecimalEvidence {
  const evidence = new DecimalEvidence('unit_price');
  cells.forEach((cell, at) => evidence.observe(at + 2, cell));
  return evidence;
}

function refusalOf(evidence: DecimalEvidence): Refusal {
  try {
    evidence.decide();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('expected a refusal');
}

describe('DecimalEvidence', () => {
  it('is proved by the first value that only one mark can read', () => {
    expect(evidenceOf('12', '1.234', '1.234,56').decide()).toEqual({
      mark: ',',
      how: 'proved',
      witness: { row: 4, value: '1.234,56' },
      ambiguous: { row: 3, value: '1.234' },
    });
    expect(evidenceOf('1.234', '2.5').decide()).toEqual({
      mark: '.',
      how: 'proved',
      witness: { row: 3, value: '2.5' },
      ambiguous: { row: 2, value: '1.234' },
    });
  });

  it('needs no proof when no value depends on the mark', () => {
    expect(evidenceOf('12', '1 234', 'abc', '').decide()).toEqual({ mark: '.', how: 'either', witness: null });
  });

  it('refuses values that can mean two numbers, and names both', () => {
    const { finding } = refusalOf(evidenceOf('12', '1.234'));

    expect(finding).toMatchObject({ code: 'decimal-unproved', row: 3, column: 'unit_price', severity: 'error' });
    expect(finding.message).toContain('1.234 (decimal point) or 1234 (decimal comma)');
    expect(finding.message).toContain('--decimal');
  });

  it('refuses a column that proves both marks, and names both rows', () => {
    const { finding } = refusalOf(evidenceOf('2.5', '3,75'));

    expect(finding.code).toBe('decimal-contradictory');
    expect(finding.message).toMatch(/"2\.5" in row 2.*"3,75" in row 3/);
  });

  it('believes a declaration before anything else', () => {
    expect(evidenceOf('1.234').decide(',')).toEqual({
      mark: ',',
      how: 'declared',
      witness: null,
      ambiguous: { row: 2, value: '1.234' },
    });
  });

  it('keeps a declared mark beside values of the other kind, and names one', () => {
    expect(evidenceOf('2.5', '3,75').decide('.')).toMatchObject({ mark: '.', against: { row: 3, value: '3,75' } });
  });

  it('refuses a declaration that every value which can tell contradicts', () => {
    expect(() => evidenceOf('1,234', '2,50').decide('.')).toThrow(
      /"2,50" in row 3 can only be read with a decimal comma/,
    );
  });

  it('refuses a mark with which a number that nobody changed would be another one', () => {
    const evidence = evidenceOf('3,50', '1.500');
    evidence.observeKept(3, '1.500', '1.5');

    const { finding } = refusalOf(evidence);

    expect(finding).toMatchObject({ code: 'decimal-not-as-before', row: 3, column: 'unit_price' });
    expect(finding.message).toContain(
      '"1.500" in row 3 was 1.5 there (lote_original), and is 1500 with a decimal comma',
    );
    expect(finding.message).toContain('--decimal .');
  });

  it('takes no number that both marks read alike for a word of the dropped file', () => {
    const evidence = evidenceOf('3,50', '12', '2.5');
    evidence.observeKept(3, '12', '12');
    evidence.observeKept(4, '2.5', '2.5');

    expect(evidence.decide(',')).toMatchObject({ mark: ',', against: { row: 4 } });
  });

  it('takes the point of a JSON token for what it is', () => {
    const evidence = evidenceOf('1.234');
    evidence.observeToken(3, '1.234');

    expect(evidence.decide()).toMatchObject({ mark: '.', how: 'proved' });
  });
});
