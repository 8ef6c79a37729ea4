import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseReadAs, readAsText } from '../../../../src/domain/read-as.ts';
import { decimalMarkOf } from '../../../../src/app/files/file-proof.ts';

const EITHER = { mark: '.', how: 'either', witness: null };
const COMMA = { mark: ',', how: 'proved', witness: { row: 2, value: '2,50' } };
const POINT = { mark: '.', how: 'proved', witness: { row: 2, value: '2.50' } };
const PORTUGUESE = { language: 'pt', locale: 'pt' } as const;

describe('what a corrections file says of its reading', () => {
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
