import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseReadAs, readAsText } from '../../../../src/domain/read-as.ts';
import { decimalMarkOf, readAsOf } from '../../../../src/app/files/file-proof.ts';

const EITHER = { mark: '.', how: 'either', witness: null };
const COMMA = { mark: ',', how: 'proved', witness: { row: 2, value: '2,50' } };
const POINT = { mark: '.', how: 'proved', witness: { row: 2, value: '2.50' } };
const PORTUGUESE = { language: 'pt', locale: 'pt' } as const;
const DOUBT = { ...COMMA, ambiguous: { row: 3, value: '1.234' } };

describe('readAsOf', () => {
  it('says of the numbers only what their cells may not prove again', () => {
    expect(readAsOf({ decimal: EITHER })).toEqual({});
    expect(readAsOf({ decimal: COMMA })).toEqual({});
    expect(readAsOf({ decimal: DOUBT, profile: { name: 'erp' } })).toEqual({ decimal: ',', profile: 'erp' });
    expect(readAsOf({})).toEqual({});
  });

  it('says that the references were cut', () => {
    expect(readAsOf({ areReferencesCut: true })).toEqual({ references: 'cut' });
  });

  it('carries what was declared, and not what the file proved', () => {
    const declared = {
      encoding: { name: 'cp850', how: 'declared' },
      delimiter: { value: '^', how: 'declared' },
      duplicateRows: 'keep',
    };

    expect(readAsOf(declared)).toEqual({ encoding: 'cp850', delimiter: '^', duplicateRows: 'keep' });
    const proved = { encoding: { name: 'utf-8', how: 'proved' }, delimiter: { value: ';', how: 'proved' } };
    expect(readAsOf(proved)).toEqual({});
  });

  it('survives being written into a cell', () => {
    const said = {
      decimal: fc.constantFrom('.' as const, ',' as const),
      profile: fc.stringMatching(/^[a-z0-9][a-z0-9_-]{0,20}$/),
      encoding: fc.constantFrom('cp850', 'iso-8859-15', 'utf-16le'),
      delimiter: fc.constantFrom('^', ';', '\t', '§'),
      references: fc.constant('cut' as const),
    };
    fc.assert(
      fc.property(fc.record(said, { requiredKeys: [] }), (readAs) => {
        expect(parseReadAs(readAsText(readAs))).toEqual({ ...readAs });
      }),
    );
  });
});

describe('decimalMarkOf', () => {
  it.each([
    ['its numbers', { decimal: COMMA }, ','],
    ['a semicolon where no number shows one', { decimal: EITHER, delimiter: { value: ';' } }, ','],
    ['the reader of a workbook, whose numbers show none', { decimal: EITHER, workbook: {} }, ','],
    ['a workbook whose texts show one', { decimal: POINT, workbook: {} }, '.'],
    ['nothing', { decimal: EITHER, delimiter: { value: ',' } }, '.'],
    ['a refused file', {}, '.'],
  ])('is that of %s', (_, proof, mark) => {
    expect(decimalMarkOf(proof, PORTUGUESE)).toBe(mark);
  });
});
