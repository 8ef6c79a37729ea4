import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bySpelling,
  groupKeyOf,
  isOddNif,
  shownSpelling,
  skeletonOf,
  withDroppedZeros,
  withOtherZeros,
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
    ['a power of ten, which a spreadsheet writes out', '1E5', '100000'],
    ['a power of ten with zeros before it', '0012e3', '12000'],
    ['digits of Arabic', '\u0660\u0661\u0669', '19'],
    ['digits of Persian', 'FT \u06f2', 'FT 2'],
    [
      'digits of mathematics, five kinds beside each other',
      '\u{1d7d0}\u{1d7da}\u{1d7e4}\u{1d7ee}\u{1d7f8}\u{1d7ff}',
      '222229',
    ],
  ])('of %s is what a person sees', (_, odd, seen) => {
    expect(skeletonOf(odd)).toBe(seen.normalize('NFC'));
  });

  it.each([
    ['ft 2', 'FT 2'],
    ['FT 2\u00b2', 'FT 22'],
    ['FT O', 'FT 0'],
    ['Fa\u00e7ao', 'Facao'],
    ['FT\u20142', 'FT-2'],
    ['\u0410-1', 'A-1'],
    ['FT2', 'FT 2'],
    ['FT 007', 'FT 7'],
    ['120', '12'],
    ['1E5', '1E6'],
    ['2026E0015', '2026000000000000000'],
    ['A1E5', 'A100000'],
  ])('keeps %s and %s apart', (one, other) => {
    expect(skeletonOf(one)).not.toBe(skeletonOf(other));
  });

  it('of a cell that is no reference costs nothing', () => {
    const [zeros, digits] = [`${'0'.repeat(1_000_000)}A`, '\u{1d7ff}'.repeat(500_000)];

    expect([skeletonOf(zeros), skeletonOf(digits)]).toEqual([zeros, digits]);
  });

  it('of a skeleton is itself, and printable ASCII with single spaces is one', () => {
    fc.assert(
      fc.property(anyText(), (ref) => {
        expect(skeletonOf(skeletonOf(ref))).toBe(skeletonOf(ref));
      }),
    );
    expect(skeletonOf('FT 2026/1-A')).toBe('FT 2026/1-A');
  });
});

describe('the references and tax numbers that a spreadsheet may have changed', () => {
  it.each([
    ['1.1', ['1.10', '1.100']],
    ['2026,1', ['2026,10', '2026,100']],
    ['1.10', []],
    ['11', []],
    ['FT 1.1', []],
  ])('of the reference %s are %j', (ref, fuller) => {
    expect(withDroppedZeros(ref)).toEqual(fuller);
  });

  it.each([
    ['123456789', ['0123456789', '00123456789']],
    ['0012', ['12', '012', '00012', '000012']],
    ['000', ['0', '00', '0000', '00000']],
  ])('of the tax number %s are %j', (nif, others) => {
    expect(withOtherZeros(nif)).toEqual(others);
  });
});

describe('isOddNif', () => {
  it('is true of at least one of two tax numbers that differ in the zeros in front alone', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[1-9]\d{0,16}$/), fc.nat(3), fc.nat(3), (digits, some, others) => {
        fc.pre(some !== others);
        expect([some, others].some((zeros) => isOddNif('0'.repeat(zeros) + digits))).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  it('is true of one of all pairs that a look-up of other zeros knows', () => {
    const nifs = ['0', '00', ...Array.from({ length: 20 }, (_, length) => '1'.repeat(length + 1))];
    const pairs = nifs.flatMap((nif) =>
      withOtherZeros(nif).flatMap((other) => [nif, other].concat(withOtherZeros(other))),
    );
    const unseen = pairs.flatMap((nif) => withOtherZeros(nif).filter((other) => !isOddNif(nif) && !isOddNif(other)));

    expect(unseen).toEqual([]);
  });

  it.each([
    ['Portugal', '501964843'],
    ['Italy', '12345670785'],
    ['Italy, with a zero in front', '01234567897'],
    ['Brazil, a company with a zero in front', '01838723000127'],
  ])('is false of the tax numbers of ordinary files: %s', (_, nif) => expect(isOddNif(nif)).toBe(false));
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
