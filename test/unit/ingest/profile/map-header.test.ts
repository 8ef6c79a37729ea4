import { describe, expect, it } from 'vitest';
import { COLUMNS } from '../../../../src/domain/row.ts';
import { FIELDS } from '../../../../src/domain/invoice.ts';
import { likelyColumn } from '../../../../src/ingest/profile/table-head.ts';
import { mapHeader } from '../../../../src/ingest/profile/map-header.ts';

describe('mapHeader', () => {
  it.each(['P. unitário', 'p.UNITARIO', ' P_Unitário ', 'Punitario'])(
    'proposes a column for %j, whatever its case, accents and separators, and decides nothing',
    (header) => {
      expect(mapHeader([header], {}, likelyColumn).indexes[COLUMNS.indexOf('unit_price')]).toBe(0);
      expect(mapHeader([header])).toMatchObject({ found: 0, unknown: [header.trim()] });
    },
  );

  it.each(['unit_price', 'Unit Price', ' UNIT-PRICE '])("takes %j for Lote's own name", (header) => {
    expect(mapHeader([header])).toMatchObject({ found: 1, unknown: [] });
  });

  it("asks for Lote's own name of a column that the profile gives another source", () => {
    const map = mapHeader(['merchant_nif', 'Emitente'], { columns: { merchant_nif: 'Emitente' } });

    expect(map.indexes[COLUMNS.indexOf('merchant_nif')]).toBe(1);
    expect(map.unknown).toEqual(['merchant_nif']);
    expect(mapHeader(['currency'], { constants: { currency: 'EUR' } }).unknown).toEqual(['currency']);
  });

  it('tells a column from one whose name differs in a sign, and misses one that is gone', () => {
    const options = { columns: { tax_code: 'IVA' }, ignore: ['Desconto', 'Obs'] };

    expect(mapHeader(['IVA', '% IVA', '% Desconto', 'Desconto'], options)).toMatchObject({
      unknown: ['% IVA', '% Desconto'],
      gone: ['Obs'],
      ignored: ['Desconto'],
    });
  });

  it.each(['__proto__', 'constructor', 'hasOwnProperty', ''])('knows no column named %j', (header) => {
    expect(mapHeader([header]).found).toBe(0);
  });

  it('knows a corrections file by both of its columns', () => {
    expect(mapHeader(['lote_state', 'lote_reason'])).toMatchObject({ own: true, ignored: [] });
    expect(mapHeader(['lote_state']).own).toBe(false);
  });
});

describe('header synonyms', () => {
  it('give no word to two columns', () => {
    const words = COLUMNS.flatMap((column) => [column, ...FIELDS[column].headers.split(' ')]);

    expect(words.filter((word, at) => words.indexOf(word) !== at)).toEqual([]);
  });

  it('are written as headers are compared', () => {
    const words = Object.values(FIELDS).flatMap(({ headers }) => headers.split(' '));

    expect(words.filter((word) => !/^[a-z0-9]+$/u.test(word))).toEqual([]);
    expect(words.filter((word) => likelyColumn(word) === undefined)).toEqual([]);
  });
});
