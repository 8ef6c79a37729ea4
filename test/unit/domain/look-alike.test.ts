import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bySpelling,
  groupKeyOf,
  shownSpelling,
  skeletonOf,
  withDroppedZeros,
  fittingReference,
} from '../../../src/domain/look-alike.ts';
import { anyText } from '../../support/any-text.ts';

describe('skeletonOf', () => {
  it.each([
    ['a no-break space', 'FT\u00a02', 'FT 2'],
    ['a narrow no-break space', 'FT\u202f2', 'FT 2'],
    ['two spaces', 'FT  2', 'FT 2'],
    ['a zero-width space', 'FT\u200b2', 'FT2'],
    ['a direction mark', 'FT 2\u200e', 'FT 2'],
    ['a zero-width space alone behind a space', 'FT \u200b', 'FT'],
    ['a zero-width space before one', '\u200b FT 2', 'FT 2'],
    ['a soft hyphen', 'FT\u00ad2', 'FT2'],
    ['a variation selector', 'FT\ufe0f2', 'FT2'],
    ['letters of full width', '\uff26\uff34\u3000\uff12', 'FT 2'],
    ['a hyphen that does not break', 'FT\u20112', 'FT-2'],
    ['a minus', 'FT\u22122', 'FT-2'],
    ['letters in two parts', 'Fac\u0327a\u0303o 1', 'Fa\u00e7\u00e3o 1'],
    ['zeros that a spreadsheet drops', '00012', '12'],
    ['zeros of full width', '\uff10\uff11', '1'],
    ['zeros alone', '000', '0'],
    ['zeros before the digits of a reference', 'FT 2026/0007-A01', 'FT 2026/7-A1'],
    ['a power of ten with zeros in its exponent', '1E005', '100000'],
    ['a digit above the line', 'FT 2\u00b2', 'FT 22'],
    ['a number in a circle', '\u2460', '1'],
    ['a power of ten, which a spreadsheet writes out', '1E5', '100000'],
    ['a power of ten with zeros before it', '0012e3', '12000'],
  ])('of %s is what a person sees', (_, odd, seen) => {
    expect(skeletonOf(odd)).toBe(seen.normalize('NFC'));
  });

  it.each([
    ['ft 2', 'FT 2'],
    ['FT O', 'FT 0'],
    ['Fa\u00e7ao', 'Facao'],
    ['FT\u20142', 'FT-2'],
    ['\u0410-1', 'A-1'],
    ['FT2', 'FT 2'],
    ['120', '12'],
    ['1E5', '1E6'],
    ['2026E0015', '2026000000000000000'],
    ['A1E5', 'A100000'],
  ])('keeps %s and %s apart', (one, other) => {
    expect(skeletonOf(one)).not.toBe(skeletonOf(other));
  });

  it('of a cell that is no reference costs nothing', () => {
    const zeros = `${'0'.repeat(1_000_000)}A`;

    expect(skeletonOf(zeros)).toBe(zeros);
  });

  it('of a skeleton is itself, and printable ASCII with single spaces is one', () => {
    fc.assert(
      fc.property(anyText(), (ref) => {
        expect(skeletonOf(skeletonOf(ref))).toBe(skeletonOf(ref));
      }),
    );
    expect(skeletonOf('FT 2026/10-A')).toBe('FT 2026/10-A');
  });
});

describe('the references that a spreadsheet may have changed', () => {
  it.each([
    ['1.1', ['1.10', '1.100']],
    ['2026,1', ['2026,10', '2026,100']],
    ['1.10', []],
    ['11', []],
    ['FT 1.1', []],
  ])('of the reference %s are %j', (ref, fuller) => {
    expect(withDroppedZeros(ref)).toEqual(fuller);
  });
});

describe('shownSpelling', () => {
  it('shows what cannot be seen', () => {
    expect(shownSpelling('FT\u00a02')).toBe('FT<U+00A0>2');
    expect(shownSpelling('FT 2')).toBe('FT 2');
    expect(shownSpelling('e\u0301')).toBe('e<U+0301>');
    expect(shownSpelling('FT\u00e7 2')).toBe('FT\u00e7 2');
  });
});

describe('bySpelling', () => {
  it('parts rows by their exact reference, in the order of the first rows', () => {
    const rows = ['FT 2', 'FT\u00a02', 'FT 2'].map((ref, row) => ({ nif: '1', ref, row }));

    expect(bySpelling(rows).map((part) => part.map(({ row }) => row))).toEqual([[0, 2], [1]]);
    expect(bySpelling(rows.slice(0, 1))).toEqual([rows.slice(0, 1)]);
  });

  it('parts rows by their exact tax number, too', () => {
    const rows = ['0123', '123', '0123'].map((nif, row) => ({ nif, ref: 'FT 2', row }));

    expect(bySpelling(rows).map((part) => part.map(({ row }) => row))).toEqual([[0, 2], [1]]);
  });
});

describe('groupKeyOf', () => {
  it.each([
    ['00123', '123', true],
    ['0', '00', true],
    ['123', '1230', false],
    ['123', '124', false],
  ])('of the tax numbers %s and %s with one reference is the same: %s', (nif, other, isSame) => {
    expect(groupKeyOf({ nif, ref: 'FT 2' }) === groupKeyOf({ nif: other, ref: 'FT\u00a02' })).toBe(isSame);
  });

  it('keeps identities apart that only look alike when joined', () => {
    expect(groupKeyOf({ nif: '1', ref: '23' })).not.toBe(groupKeyOf({ nif: '12', ref: '3' }));
  });
});

describe('fittingReference', () => {
  it.each([
    ['leaves a reference of 200 characters as it is', 'R'.repeat(200), 'R'.repeat(200)],
    ['keeps the beginning of a longer one', `${'R'.repeat(199)}12`, `${'R'.repeat(199)}…`],
    ['never ends with half of a character', `${'R'.repeat(198)}😀😀`, `${'R'.repeat(198)}…`],
  ])('%s', (_, ref, fitting) => {
    expect(fittingReference(ref)).toBe(fitting);
  });
});
