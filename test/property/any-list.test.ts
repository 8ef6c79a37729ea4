import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readMerchantList } from '../../src/service/merchants/merchant-list.ts';
import type { ServiceProfile } from '../../src/service/profile/profile.ts';
import {
  answered,
  anyAnswer,
  isSuccess,
  Tally,
  put,
  type Filling,
  holdsId,
  isNothing,
  standsAt,
  type Came,
} from '../support/any-service/any-answer.ts';
import { PROFILES } from '../support/any-service/profiles.ts';

const BASE = 'https://service.example/api';
/** How services refuse a page that does not exist: the end, where the profile asks for a page more than it needs. */
const NO_SUCH_PAGE = [400, 404, 416, 422];
const MOST_PAGES = 6;

/** A merchant as an item of a list; its parts stand in every form that one of the profiles knows. */
function itemOf({ merchants: { id, idPrefix, nif } }: ServiceProfile, number: number): unknown {
  const taxNumber = String(501_000_000 + number);
  const around: unknown = { vat_number: `PT${taxNumber}`, identifiers: [{ scheme: 'NIF', value: taxNumber }] };
  return [
    [id, `${idPrefix}M${number}`],
    [nif, taxNumber],
  ].reduce((item, [place, value]) => {
    const [one = ''] = [place ?? ''].flat();
    return one.startsWith('jsonata:') ? item : put(item, one.split('/').slice(1), value);
  }, around);
}

function fillingsOf(profile: ServiceProfile, page: number): readonly Filling[] {
  const { merchants, answers } = profile;
  const itemsFrom = (count: number) => Array.from({ length: count }, (_, at) => itemOf(profile, page * 10 + at));
  const next = [undefined, undefined, `/api/v1/merchants?from=${page}`];
  const nextInHeader = [undefined, undefined, `</api/v1/merchants?from=${page}>; rel="next"`];
  const [nextLink = ''] = [merchants.nextLink].flat();
  return [
    { place: merchants.total, right: [page + 1, 1, 2] },
    { place: merchants.more, right: [false, false, true] },
    { place: merchants.nextCursor, right: [undefined, undefined, `c${page}`] },
    { place: nextLink, right: nextLink.startsWith('header:') ? nextInHeader : next },
    { place: answers.success?.at ?? null, right: [answers.success?.is[0]] },
    { place: answers.status, right: [200] },
    { place: merchants.items, right: [itemsFrom(2), itemsFrom(1), itemsFrom(3), [], [itemOf(profile, page), {}]] },
  ];
}

it('1,000 lists of any service are whole by the signs that the profile names, or unreadable', async () => {
  const tally = new Tally();
  const anyPages = fc.array(anyAnswer(8), { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(anyPages, async (pages) => {
      for (const { name, profile } of PROFILES) {
        const served: Came[] = [];
        const fetchPage = async () => {
          const number = served.length;
          // A list may go on for ten thousand pages; a service that ends earlier is enough.
          if (number > MOST_PAGES) return { kind: 'broken', code: 'connection-reset' } as const;
          const page = pages[number % pages.length];
          if (page === undefined) throw new Error('there is at least one page');
          const { end, came } = answered(page, fillingsOf(profile, number));
          served.push(came);
          return await Promise.resolve(end);
        };
        const list = await readMerchantList(fetchPage, { profile, baseUrl: BASE });
        tally.count(list.kind);
        if (list.kind === 'list') await expectWhole(list.merchants, served, { name, profile });
      }
    }),
    { numRuns: 1_000 },
  );
  expect(tally.times('list')).toBeGreaterThan(10);
  expect(tally.times('unreadable')).toBeGreaterThan(10);
});

type Listed = readonly { readonly nif: string; readonly merchantId: string }[];

/** Every item of every page that came is in the list, nothing else is, and the last page names no other. */
async function expectWhole(
  list: Listed,
  served: readonly Came[],
  { name, profile }: { readonly name: string; readonly profile: ServiceProfile },
): Promise<void> {
  const { merchants } = profile;
  const counted = merchants.paging === 'page' || merchants.paging === 'offset';
  const pages = served.filter(({ status = 0 }) => !(counted && NO_SUCH_PAGE.includes(status)));
  const nifs = new Set<string>();
  let items = 0;
  for (const page of pages) {
    expect(await isSuccess(page, profile), name).toBe(true);
    const found = await standsAt(page, merchants.items);
    if (!Array.isArray(found)) throw new Error(`${name}: a page without items was read`);
    for (const body of found as readonly unknown[]) {
      items += 1;
      const item = { body, headers: {} };
      const [id, nif] = [await standsAt(item, merchants.id), await standsAt(item, merchants.nif)];
      const listed = list.find((one) => one.nif === String(nif).replaceAll(/\s/g, ''));
      nifs.add(listed?.nif ?? '');
      expect(listed, name).toBeDefined();
      if (found.length === 1 && pages.length === 1)
        expect(holdsId(id, listed?.merchantId ?? '', merchants.idPrefix), name).toBe(true);
    }
  }
  expect(list.map(({ nif }) => nif).toSorted(), name).toEqual([...nifs].toSorted());
  await expectEnd(pages.at(-1), items, { name, profile });
}

async function expectEnd(
  page: Came | undefined,
  items: number,
  { name, profile: { merchants } }: { readonly name: string; readonly profile: ServiceProfile },
): Promise<void> {
  if (page === undefined) throw new Error(`${name}: a list without a page`);
  const at = async (place: ServiceProfile['merchants']['more']) =>
    place === null ? undefined : await standsAt(page, place);
  const more = await at(merchants.more);
  expect([true, 'true', 1], name).not.toContain(more);
  const total = await at(merchants.total);
  if (typeof total === 'number') expect(total, name).toBeLessThanOrEqual(items);
  if (merchants.paging === 'cursor' && isNothing(more))
    expect(isNothing(await at(merchants.nextCursor)), name).toBe(true);
  if (merchants.paging !== 'link' || !isNothing(more)) return;
  const next = await at(merchants.nextLink);
  expect(isNothing(next) || (typeof next === 'string' && !next.includes('rel="next"')), name).toBe(true);
}
