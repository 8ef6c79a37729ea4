import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AnswerHeaders, ExchangeResult } from '../../../../src/service/exchange-result.ts';
import { readMerchantList } from '../../../../src/service/merchants/merchant-list.ts';
import { DEFAULT_PROFILE } from '../../../../src/service/profile/profile.ts';
import { loadProfile } from '../../../../src/service/profile/check-profile.ts';

const baseUrl = 'https://service.example';
const DEEP = JSON.parse(`${'['.repeat(20_000)}1${']'.repeat(20_000)}`) as unknown;
const ONE = [{ id: 'mrc_1', nif: '1' }];
const TWO = [...ONE, { id: 'mrc_2', nif: '2' }];

function read(body: unknown, headers: AnswerHeaders = {}, profile = DEFAULT_PROFILE) {
  const answered = { kind: 'answer', status: 200, retryAfterMs: null, headers } as const;
  const end: ExchangeResult = { ...answered, body: { kind: 'json', value: body } };
  return readMerchantList(() => Promise.resolve(end), { profile, baseUrl });
}

describe('a list of merchants that may go on where the profile sees its end', () => {
  it.each<[string, unknown]>([
    ['a flag', { data: ONE, has_more: true }],
    ['a flag in words', { data: ONE, hasMore: 'true' }],
    ['a flag below meta', { data: ONE, meta: { pagination: { has_next_page: true } } }],
    ['a flag of the last page', { data: ONE, last: false }],
    ['a cursor of another name', { data: ONE, nextPageToken: 'abc' }],
    [
      'a cursor below paging',
      { data: ONE, paging: { cursors: { after: 'x' }, next: 'https://service.example/v1/merchants?after=x' } },
    ],
    ['an address', { data: ONE, '@odata.nextLink': 'https://service.example/v1/merchants?$skip=1' }],
    ['links of HAL', { data: ONE, _links: { self: { href: '/a' }, next: { href: '/b' } } }],
    ['links of JSON:API', { data: ONE, links: { self: '/a', next: '/b' } }],
    ['a list of links', { data: ONE, links: ['self', 'next'].map((rel) => ({ rel, href: `/${rel}` })) }],
    ['a count', { data: ONE, total: 2 }],
    ['a count in words', { data: ONE, meta: { totalCount: '2' } }],
    ['a number of pages', { data: ONE, page: 1, total_pages: 3 }],
    ['a last page by its number', { data: ONE, current_page: 1, last_page: 2 }],
    ['a full page', { data: TWO, limit: 2, offset: 0 }],
    ['a full page beside a count of something else', { data: TWO, limit: 2, total: 1 }],
  ])('is not taken for whole with %s, and the sentence names it', async (_, body) => {
    const list = await read(body);

    expect(list).toMatchObject({ kind: 'unreadable', reason: { code: 'service-list-unreadable' } });
    expect(JSON.stringify(list)).toContain('No merchant was created');
    expect(JSON.stringify(list)).toMatch(/\/[\w@.]+ (names|says|counts|allows)/u);
  });

  it.each<[string, AnswerHeaders]>([
    ['Link', { link: '</v1/merchants?page=2>; rel="next", </v1/merchants?page=9>; rel="last"' }],
    ['several Link headers', { link: ['</a>; rel="prev"', '</b>; rel=next'] }],
    ['X-Total-Count', { 'x-total-count': '2' }],
    ['X-Next-Page', { 'x-next-page': '2' }],
    ['X-Total', { 'x-total': '2' }],
    ['Total-Count', { 'total-count': '2' }],
    ['X-Pagination-Total-Count', { 'x-pagination-total-count': '2' }],
    ['X-Total-Pages', { 'x-total-pages': '2' }],
    ['X-Page-Count', { 'x-page-count': '2' }],
    ['X-Pagination-Page-Count', { 'x-pagination-page-count': '2' }],
    ['Content-Range', { 'content-range': 'merchants 0-0/2' }],
    ['X-Total-Count that came twice', { 'x-total-count': '1, 2' }],
  ])('is not taken for whole with the header %s', async (_, headers) => {
    expect(await read({ data: ONE }, headers)).toMatchObject({ kind: 'unreadable' });
    const atTheTop = loadProfile('{"merchants":{"items":""}}');
    expect(await read(ONE, headers, atTheTop)).toMatchObject({ kind: 'unreadable' });
  });

  it.each<[string, unknown, AnswerHeaders]>([
    ['nothing beside it', { data: ONE }, {}],
    ['an empty cursor', { data: TWO, next_cursor: null, limit: 2 }, {}],
    ['flags and links of an end', { data: ONE, has_more: false, links: { next: null, prev: '/a' }, total: 1 }, {}],
    ['a full page that is all', { data: TWO, limit: 2, total: 2 }, {}],
    ['a page below its limit', { data: ONE, limit: 50 }, {}],
    [
      'keys that only hold such words',
      {
        ...{ data: ONE, nextBilling: '2027-01-01', annexNext: 'x', moreInfo: true, noMore: true, lastLogin: false },
        ...{ ballast: false, totalAmount: 9, subtotal: 9, pagesPrinted: 9, webpages: 9, sizeOfShop: 1, upperlimit: 1 },
      },
      {},
    ],
    ['a next page of an item', { data: [{ ...ONE[0], next: 'mrc_2', has_more: true }] }, {}],
    ['headers of an end', { data: ONE }, { link: '</a>; rel="prev"', 'x-total-count': '1', 'x-next-page': '' }],
    ['headers of one page', { data: ONE }, { 'x-total-pages': '1', 'content-range': 'merchants 0-0/1' }],
  ])('is whole with %s', async (_, body, headers) => {
    expect(await read(body, headers)).toMatchObject({ kind: 'list' });
  });

  it('is not taken for whole with a next page nested without end, and no crash', async () => {
    expect(await read({ data: ONE, next: DEEP })).toMatchObject({ kind: 'unreadable' });
  });

  it.each([
    ['an object that has no text', { toString: null, valueOf: null }],
    ['a list nested without end', DEEP],
  ])('is whole with a relation that is %s', async (_name, rel) => {
    expect(await read({ data: ONE, links: [{ rel }] })).toMatchObject({ kind: 'list' });
  });

  it('is not taken for whole with a next page that the profile does not follow, at the place where it looks for one', async () => {
    const profile = loadProfile('{"merchants":{"paging":"link","nextLink":"header:Link","more":"/more"}}');
    const headers = { link: '</v1/merchants?page=2>; rel="next"; anchor="/v1/merchants"' };

    expect(await read({ data: ONE }, headers, profile)).toMatchObject({ kind: 'unreadable' });
    expect(await read({ data: ONE, more: false }, headers, profile)).toMatchObject({ kind: 'list' });
  });

  it.each([
    ['key', 'total', { total: 240 }, {}],
    ['header', 'X-Total-Count', {}, { 'x-total-count': '240' }],
    ['header', 'header:X-Total-Count', {}, { 'x-total-count': '240' }],
  ])('is whole when the profile says that the %s %s means something else', async (_, name, beside, headers) => {
    const profile = loadProfile(JSON.stringify({ merchants: { notPaging: [name] } }));

    expect(await read({ data: ONE, ...beside }, headers, profile)).toMatchObject({ kind: 'list' });
  });

  it('is not taken for whole with a full page and a header that counts the merchants of the page', async () => {
    const profile = loadProfile('{"merchants":{"pageSize":2}}');

    expect(await read({ data: TWO }, {}, profile)).toMatchObject({ kind: 'unreadable' });
    for (const name of ['x-count', 'x-total-count'])
      expect(await read({ data: TWO }, { [name]: '2' }, profile)).toMatchObject({ kind: 'unreadable' });
    expect(await read({ data: TWO, limit: 2 }, { 'x-count': '2' })).toMatchObject({ kind: 'unreadable' });
  });

  it('counts the items of all pages, also those of one tax number', async () => {
    const pages = [
      { data: [...ONE, ...ONE], next_cursor: 'x', total: 3 },
      { data: [{ id: 'mrc_3', nif: '3' }], next_cursor: null, total: 3, total_pages: 2 },
    ];
    const list = await readMerchantList(
      (path) => {
        const value = pages[path.includes('cursor') ? 1 : 0];
        return Promise.resolve({ kind: 'answer', status: 200, retryAfterMs: null, body: { kind: 'json', value } });
      },
      { profile: DEFAULT_PROFILE, baseUrl },
    );

    expect(list).toMatchObject({ kind: 'list', merchants: [{ nif: '1' }, { nif: '3' }] });
  });

  it('is read or refused, whatever stands beside it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue()), async (beside) => {
        const list = await read({ ...beside, data: ONE, next_cursor: null });
        expect(['list', 'unreadable']).toContain(list.kind);
      }),
    );
  });
});
