import { describe, expect, it } from 'vitest';
import { placesRead, readEnd } from '../../../../src/service/merchants/list-end.ts';
import { DEFAULT_PROFILE } from '../../../../src/service-profile/default-profile.ts';

const PLACES = { total: '/total', pages: '/pages', more: '/more' };
const READ = { items: 5, pages: 2, itemsOfPage: 3 };

const end = (body: unknown, places: object = PLACES) =>
  readEnd({ body }, READ, { ...DEFAULT_PROFILE.merchants, ...places });

describe('what a page says about the end of its list', () => {
  it.each([true, 'true', 'Yes', 1, '1'])('goes on by a flag that is %j', (more) => {
    expect(end({ more })).toMatchObject({ flag: 'more', end: [], more: ['merchants.more says yes'] });
  });

  it.each([false, 'false', 'NO', 0, '0'])('ends by a flag that is %j', (more) => {
    expect(end({ more })).toMatchObject({ flag: 'end', end: ['merchants.more says no'], more: [] });
  });

  it.each(['perhaps', 'untrue', 'true story', 'ano', 'nothing', 10, [], {}, [true]])(
    'is unknown by a flag that is %j',
    (more) => {
      expect(end({ more })).toEqual({ why: 'what stands at merchants.more is neither yes nor no' });
    },
  );

  it.each([
    [6, [], ['merchants.total says 6 merchants, and 5 were read']],
    [' 6 ', [], ['merchants.total says 6 merchants, and 5 were read']],
    [5, ['merchants.total says 5 merchants, and 5 were read'], []],
    [0, ['merchants.total says 0 merchants, and 5 were read'], []],
    ['123456789012345', [], ['merchants.total says 123456789012345 merchants, and 5 were read']],
  ])('by a total of %j', (total, ends, goesOn) => {
    expect(end({ total })).toMatchObject({ flag: null, end: ends, more: goesOn, total: Number(total) });
  });

  it.each([
    [3, [], ['merchants.pages says 3 pages, and 2 were read']],
    ['2', ['merchants.pages says 2 pages, and 2 were read'], []],
  ])('by %j pages', (pages, ends, goesOn) => {
    expect(end({ pages })).toMatchObject({ flag: null, end: ends, more: goesOn, total: null });
  });

  it.each(['many', 'a6', '6a', '6 x', 'x 6', '1234567890123456', -1, 1.5, 2 ** 53, true, [6], {}])(
    'is unknown by a count that is %j',
    (count) => {
      expect(end({ total: count })).toEqual({ why: 'what stands at merchants.total is no whole number' });
      expect(end({ pages: count })).toEqual({ why: 'what stands at merchants.pages is no whole number' });
    },
  );

  it.each([{}, { total: null, pages: null, more: null }, { total: '', pages: '', more: '' }])(
    'is nothing where %j stands',
    (body) => {
      expect(end(body)).toEqual({
        ...{ flag: null, end: [], more: [], total: null },
        places: ['/total', '/pages', '/more'],
      });
    },
  );

  it('is nothing where the profile names no place', () => {
    expect(end({ total: 9, more: true }, { total: null, pages: null, more: null })).toEqual({
      ...{ flag: null, end: [], more: [], total: null },
      places: [],
    });
  });
});

describe('the places that were read', () => {
  it.each([
    ['one place, whatever stands there', ['/a'], ['/a']],
    ['of a list the first at which something stands', [['/none', '/b', '/c']], ['/b']],
    ['of a list of which nothing stands anywhere, none', [['/none', '/empty']], []],
    ['of several what counts of each', [null, '/a', ['/c', '/b']], ['/a', '/c']],
  ])('are %s', (_name, places, read) => {
    expect(placesRead({ body: { b: 1, c: 2, empty: '' } }, places)).toEqual(read);
  });
});
