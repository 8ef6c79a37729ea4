import { describe, expect, it } from 'vitest';
import type { AnswerHeaders } from '../../../../src/service/exchange-result.ts';
import { signOfMore } from '../../../../src/service/merchants/list-signs.ts';

type LastPage = Parameters<typeof signOfMore>[2];

const ITEMS = [{ id: 'mrc_1' }, { id: 'mrc_2' }];
const READ = { items: 2, pages: 1, itemsOfPage: 2 };
const LAST: LastPage = { items: ITEMS, next: null, notPaging: [], pageSize: null, places: [], proved: false };

function sign(
  beside: object,
  { headers = {}, ...last }: Partial<LastPage> & { readonly headers?: AnswerHeaders } = {},
): string | null {
  return signOfMore({ body: { data: ITEMS, ...beside }, headers }, READ, { ...LAST, ...last });
}

/** So many keys without a meaning. */
const ballast = (keys: number) => Object.fromEntries(Array.from({ length: keys }, (_, at) => [`k${at}`, 'x']));

describe('a key beside the merchants of the last page', () => {
  it.each<[object, string]>([
    [{ more: true }, '/more says that there is more'],
    [{ has_more: 1 }, '/has_more says that there is more'],
    [{ has_more: 'Yes' }, '/has_more says that there is more'],
    [{ last: false }, '/last says that it is not the last page'],
    [{ next: 5 }, '/next names a next page'],
    [{ next: { href: '/b', title: null } }, '/next names a next page'],
    [{ next: { a: { b: { c: { d: null } } } } }, '/next names a next page'],
    [{ links: [{ rel: ['self', 'Next'], href: '/b' }] }, '/links/next names a next page'],
    [{ total: '12' }, '/total counts 12 merchants, and 2 were read'],
    [{ total_pages: 2 }, '/total_pages counts 2 pages, and 1 were read'],
    [{ a: { b: { total: 9 } } }, '/a/b/total counts 9 merchants, and 2 were read'],
  ])('%j is a sign that the list goes on', (beside, said) => {
    expect(sign(beside)).toBe(said);
  });

  it.each<object>([
    ...[{ has_more: 'untrue' }, { has_more: 'true story' }, { has_more: 0 }, { last: true }, { last_page: 1 }],
    ...[{ next: null }, { next: '' }, { next: false }, { next: 0 }, { next: [] }, { next: { href: null } }],
    ...[{ next: { a: { b: { c: null } } } }, { total: 2 }, { total: '1e3' }, { total: '0x10' }, { total: [9] }],
    ...[{ links: [{ rel: 'next-archive', href: '/b' }] }, { links: [{ rel: 'prefetch-next', href: '/b' }] }],
    ...[{ links: [{ rel: 'self', href: '/b' }, 'next', null] }, { '/next': 'x' }, { '~next': 'x' }],
    ...[{ a: { b: { c: { total: 9 } } } }, { limit: 1 }, { size: 0 }, { limits: 2 }, { upper_limit: 2 }, { limit: 3 }],
  ])('%j is none', (beside) => {
    expect(sign(beside)).toBeNull();
  });

  it('is looked for among the first 200 keys, and the first 200 links', () => {
    expect(sign({ ...ballast(198), total: 9 }, {})).not.toBeNull();
    expect(sign({ ...ballast(199), total: 9 }, {})).toBeNull();
    const links = (before: number) => [...Array.from({ length: before }, () => ({ rel: 'self' })), { rel: 'next' }];
    expect(sign({ links: links(199) })).not.toBeNull();
    expect(sign({ links: links(200) })).toBeNull();
  });

  it('is none inside the list of merchants itself', () => {
    const items = [{ rel: 'next', href: '/m/2' }, { total: 9 }];

    expect(signOfMore({ body: { data: items } }, READ, { ...LAST, items })).toBeNull();
  });
});

describe('a full last page', () => {
  it.each<[object, string]>([
    [{ a: 1, limit: 2 }, '/limit'],
    [{ page_size: '2' }, '/page_size'],
    [{ limit: 2, links: [] }, '/limit'],
    [{ limit: 2, links: [{ rel: 'self' }] }, '/limit'],
    [{ limit: 2, has_more: 'perhaps' }, '/limit'],
    [{ limit: 2, last: 'no' }, '/limit'],
    [{ limit: 2, total: 1 }, '/limit'],
    [{ limit: 2, total_pages: 0 }, '/limit'],
  ])('may be followed by another where %j stands beside it', (beside, place) => {
    expect(sign(beside)).toBe(`the page is as long as ${place} allows (2), and nothing says that none follows`);
  });

  it.each<object>([
    ...[{ next: null }, { next_page: '' }, { has_more: false }, { has_more: 0 }, { last: true }],
    ...[{ total: 2 }, { total: '2' }, { total_pages: 1 }],
  ])('is the end where %j says so', (beside) => {
    expect(sign({ limit: 2, ...beside })).toBeNull();
    expect(sign(beside, { pageSize: 2 })).toBeNull();
  });

  it('is the end where the place of the next page stands empty, or where the page itself was the proof', () => {
    expect(sign({ limit: 2, after: null }, { next: ['/none', '/after'] })).toBeNull();
    expect(sign({ limit: 2 }, { next: '/after' })).not.toBeNull();
    expect(sign({ limit: 2 }, { proved: true })).toBeNull();
  });

  it('is known by the size of the profile, too', () => {
    expect(sign({}, { pageSize: 2 })).toBe(
      'the page is as long as merchants.pageSize (2), and nothing says that none follows',
    );
    expect(sign({}, { pageSize: 3 })).toBeNull();
  });
});

describe('a header beside the last page', () => {
  it.each<[AnswerHeaders, string]>([
    [{ link: '</b>; rel = next' }, 'the header Link names a next page'],
    [{ link: '</b>; rel= "next"' }, 'the header Link names a next page'],
    [{ link: '</b>; rel="last next"' }, 'the header Link names a next page'],
    [{ 'x-next-page': '2' }, 'the header X-Next-Page names a next page'],
    [{ 'content-range': 'm 0-1/12' }, 'the header content-range counts 12 merchants, and 2 were read'],
    [{ 'content-range': 'm 0-1/3 ' }, 'the header content-range counts 3 merchants, and 2 were read'],
    [{ 'x-total-count': '12' }, 'the header x-total-count counts 12 merchants, and 2 were read'],
    [{ 'x-total-count': ['12', '12'] }, 'the header x-total-count counts 12, 12 merchants, and 2 were read'],
    [{ 'x-total-count': ['2', '12'] }, 'the header x-total-count counts 2, 12 merchants, and 2 were read'],
    [{ 'x-total-pages': '12' }, 'the header x-total-pages counts 12 pages, and 1 were read'],
  ])('%j is a sign that the list goes on', (headers, said) => {
    expect(sign({}, { headers })).toBe(said);
  });

  it.each<AnswerHeaders>([
    ...[{ link: '</b>; rel=prev; title="next"' }, { 'x-next-page': ' ' }, { 'content-range': 'm 0-1/*' }],
    ...[{ 'content-range': 'm 0-1/3*' }, { 'content-range': 'm 0-1/2' }, { 'x-total-count': '1e3' }],
    ...[
      { 'x-total-count': ['2', '2'] },
      { 'x-total-count': '0x10' },
      { 'x-total-count': '2' },
      { 'x-total-pages': '1' },
    ],
  ])('%j is none', (headers) => {
    expect(sign({}, { headers })).toBeNull();
  });

  it('is none where the profile reads it, however the profile writes its name', () => {
    const headers = { 'x-total-count': '12' };

    for (const place of ['header:x-total-count', 'header: X-Total-Count '])
      expect(sign({}, { headers, places: [place] })).toBeNull();
    expect(sign({}, { headers, places: ['header:x-total'] })).not.toBeNull();
  });
});
