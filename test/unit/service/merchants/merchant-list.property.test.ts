import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { AnswerHeaders, ExchangeResult } from '../../../../src/service/exchange-result.ts';
import { readMerchantList } from '../../../../src/service/merchants/merchant-list.ts';
import { loadProfile } from '../../../../src/service/profile/check-profile.ts';

const BASE = 'https://service.example/api';

/** What a page of a service is cut from. */
interface Cut {
  readonly ids: readonly string[];
  readonly query: URLSearchParams;
  readonly size: number;
}

interface Style {
  readonly name: string;
  readonly profile: Readonly<Record<string, unknown>>;
  readonly answer: (cut: Cut) => { readonly body: unknown; readonly headers?: AnswerHeaders };
}

const rows = (ids: readonly string[]) => ids.map((id) => ({ id, nif: id.slice(4) }));
const whole = (query: URLSearchParams, name: string, otherwise: number) => Number(query.get(name) ?? otherwise);

function page({ ids, query, size }: Cut, from: number) {
  const length = Math.min(whole(query, 'limit', size), size);
  const end = from + length;
  return { data: rows(ids.slice(from, end)), length, end, more: end < ids.length };
}

/** The parameters have the names of their kind: each service ignores those of the others, as services do. */
const STYLES: readonly Style[] = [
  {
    name: 'cursor',
    profile: { paging: 'cursor' },
    answer: (cut) => {
      const { data, more, end } = page(cut, whole(cut.query, 'cursor', 0));
      return { body: { data, next_cursor: more ? String(end) : null } };
    },
  },
  {
    name: 'cursor that is always there, beside a flag',
    profile: { paging: 'cursor', nextCursor: '/last', more: '/has_more' },
    answer: (cut) => {
      const { data, more, end } = page(cut, whole(cut.query, 'cursor', 0));
      return { body: { data, last: String(end), has_more: more } };
    },
  },
  {
    name: 'link in the body',
    profile: { paging: 'link' },
    answer: (cut) => {
      const { data, more, end } = page(cut, whole(cut.query, 'from', 0));
      return { body: { data, links: { next: more ? `/api/v1/merchants?from=${end}` : null } } };
    },
  },
  {
    name: 'Link header',
    profile: { paging: 'link' },
    answer: (cut) => {
      const { data, more, end } = page(cut, whole(cut.query, 'from', 0));
      const next = more ? `, <${BASE}/v1/merchants?from=${end}>; rel="next"` : '';
      return { body: { data }, headers: { link: `</api/v1/merchants>; rel="first"${next}` } };
    },
  },
  {
    name: 'page with the number of pages',
    profile: { paging: 'page', more: 'jsonata:meta.page < meta.total_pages' },
    answer: (cut) => {
      const number = whole(cut.query, 'page', 1);
      const { data, length } = page(cut, (number - 1) * cut.size);
      return { body: { data, meta: { page: number, total_pages: Math.ceil(cut.ids.length / length) } } };
    },
  },
  {
    name: 'page from 0 that names its size',
    profile: { paging: 'page' },
    answer: (cut) => {
      const { data, length } = page(cut, whole(cut.query, 'page', 0) * cut.size);
      return { body: { data, per_page: length } };
    },
  },
  {
    name: 'offset with the total',
    profile: { paging: 'offset', total: 'header:X-Total-Count' },
    answer: (cut) => {
      const { data } = page(cut, whole(cut.query, 'offset', 0));
      return { body: { data }, headers: { 'x-total-count': String(cut.ids.length) } };
    },
  },
  {
    name: 'offset with a flag',
    profile: { paging: 'offset', more: '/meta/has_more' },
    answer: (cut) => {
      const { data, more } = page(cut, whole(cut.query, 'offset', 0));
      return { body: { data, meta: { has_more: more } } };
    },
  },
];

async function read(style: Style, profileOf: Style, { ids, size }: { ids: readonly string[]; size: number }) {
  const profile = loadProfile(JSON.stringify({ merchants: profileOf.profile }));
  const list = await readMerchantList(
    (path) => {
      const { body, headers = {} } = style.answer({ ids, size, query: new URL(BASE + path).searchParams });
      const answered = { kind: 'answer', status: 200, retryAfterMs: null, headers } as const;
      return Promise.resolve<ExchangeResult>({ ...answered, body: { kind: 'json', value: body } });
    },
    { profile, baseUrl: BASE },
  );
  return list.kind === 'list' ? list.merchants.map(({ merchantId }) => merchantId) : list.reason;
}

const anyStyle = fc.constantFrom(...STYLES);
const anyList = fc.record({
  ids: fc.uniqueArray(
    fc.nat(100_000).map((number) => `mrc_${number}`),
    { maxLength: 25 },
  ),
  size: fc.integer({ min: 2, max: 9 }),
});

it('a list of any length in pages of any size is read whole by the profile of its service', async () => {
  await fc.assert(
    fc.asyncProperty(anyStyle, anyList, async (style, list) => {
      expect(await read(style, style, list)).toEqual(list.ids);
    }),
    { numRuns: 300 },
  );
});

it('a list read by the profile of another service is whole or unreadable, never a part', async () => {
  await fc.assert(
    fc.asyncProperty(anyStyle, anyStyle, anyList, async (style, profileOf, list) => {
      const found = await read(style, profileOf, list);
      if (Array.isArray(found)) expect(found).toEqual(list.ids);
      else expect(found).toMatchObject({ code: 'service-list-unreadable' });
    }),
    { numRuns: 500 },
  );
});
