import { describe, expect, it } from 'vitest';
import { COLUMNS } from '../../../../src/domain/row.ts';
import { HEADER_SYNONYMS } from '../../../../src/ingest/profile/header-synonyms.ts';
import { headerKey, mapHeader } from '../../../../src/ingest/profile/map-header.ts';

describe('mapHeader', () => {
  it('finds the published columns in any order', () => {
    const map = mapHeader([...COLUMNS].reverse());

    expect(map.indexes).toEqual(COLUMNS.map((_, at) => COLUMNS.length - 1 - at));
    expect(map).toMatchObject({ missing: [], duplicates: [], ignored: [], found: COLUMNS.length, own: false });
  });

  it.each(['P. unitário', 'p.UNITARIO', ' P_Unitário ', 'Punitario'])(
    'ignores case, accents and separators in %j',
    (header) => {
      expect(mapHeader([header]).indexes[COLUMNS.indexOf('unit_price')]).toBe(0);
    },
  );

  it('names the positions of two headers that mean one column', () => {
    expect(mapHeader(['quantity', 'x', 'Qtd']).duplicates).toEqual([{ column: 'quantity', positions: [1, 3] }]);
  });

  it('lets a given name win over the synonyms of its column', () => {
    const map = mapHeader(['nif', 'Emitente'], { columns: { merchant_nif: 'emitente' } });

    expect(map.indexes[COLUMNS.indexOf('merchant_nif')]).toBe(1);
    expect(map.ignored).toEqual(['nif']);
  });

  it.each(['__proto__', 'constructor', 'hasOwnProperty', ''])('knows no column named %j', (header) => {
    expect(mapHeader([header]).found).toBe(0);
  });

  it('knows a corrections file by both of its columns', () => {
    expect(mapHeader(['lote_state', 'lote_reason'])).toMatchObject({ own: true, ignored: [] });
    expect(mapHeader(['lote_state']).own).toBe(false);
  });

  it('maps 10,000 equal headers without slowing down quadratically', () => {
    expect(mapHeader(Array.from({ length: 10_000 }, () => 'quantity')).duplicates[0]?.positions).toHaveLength(10_000);
  });
});

describe('header synonyms', () => {
  it('give no word to two columns', () => {
    const words = COLUMNS.flatMap((column) => [column, ...HEADER_SYNONYMS[column]].map((word) => headerKey(word)));

    expect(words.filter((word, at) => words.indexOf(word) !== at)).toEqual([]);
  });

  it('are written as header keys', () => {
    const words = Object.values(HEADER_SYNONYMS).flat();

    expect(words.filter((word) => headerKey(word) !== word)).toEqual([]);
  });
});
