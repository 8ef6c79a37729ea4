import type { Document } from '../../service-profile/place.ts';
import { guessed, missing, seen, type Finding, type Recognised } from '../../service-profile/recognise/finding.ts';
import { placesOfId } from '../../service-profile/recognise/id-places.ts';
import { jsonataPath } from '../../service-profile/recognise/leaves.ts';
import { merchantList, type KnownMerchant } from '../../service-profile/recognise/merchant-items.ts';
import { pagingSigns, type PagingSigns } from '../../service-profile/recognise/paging-signs.ts';

/** A list whose paging is to be found out. */
export interface ProbedList {
  readonly path: string;
  readonly baseUrl: string;
  readonly first: Document;
  readonly merchant: KnownMerchant;
  /** Where the id stands in an item; null: it is not known. */
  readonly idPlace: string | null;
  /** null: no answer that is a success came. */
  readonly get: (path: string) => Promise<Document | null>;
}

const SIZES = ['limit', 'per_page', 'page_size', 'pageSize', 'size', 'take'];
const CURSORS = ['cursor', 'after', 'starting_after', 'page_token', 'pageToken', 'next', 'since'];
const AFTER_LAST = ['starting_after', 'after', 'after_id', 'last_id'];
const PAGES = ['page', 'p', 'page_number'];
const OFFSETS = ['offset', 'skip', 'start'];

/** A page that was asked for. */
interface Page {
  readonly items: readonly string[];
  readonly signs: PagingSigns;
}

/** Everything that the ways of paging need. */
interface Probe {
  readonly list: ProbedList;
  readonly itemsPlace: string;
  /** The page from which the next one is looked for. */
  readonly page: Page;
  /** Its query, with the size that makes it short. */
  readonly query: readonly string[];
  readonly more: PagingSigns['more'];
}

/** Finds out how a list goes on by asking for other pages of it: only what led to another page counts as seen. */
export async function probePaging(list: ProbedList): Promise<Recognised> {
  const found = merchantList(list.first, list.merchant);
  if (found === null || found.items.length === 0)
    return [missing('merchants.paging', 'the list is empty, so that nothing shows how it goes on')];
  const first = pageOf(list.first, found.place);
  const short = first.items.length < 2 ? null : await shortPage(list, found.place, first);
  const probe: Probe = {
    ...{
      list,
      itemsPlace: found.place,
      page: short?.page ?? first,
      query: short === null ? [] : [`${short.parameter}=1`],
    },
    more: (short?.page ?? first).signs.more,
  };
  const way =
    (await byLink(probe)) ?? (await byCursor(probe)) ?? (await byLast(probe)) ?? (await byNumber(probe, first));
  const ends = endSigns(probe.page.signs, way);
  if (way !== null) return [...way, ...ends];
  return [...signsAlone(probe.page.signs, found.items.length), ...ends];
}

function pageOf(document: Document, itemsPlace: string): Page {
  const list = merchantList({ ...document }, { nif: '', id: null });
  const items = list !== null && list.place === itemsPlace ? list.items : [];
  return { items: items.map((item) => JSON.stringify(item)), signs: pagingSigns(document, itemsPlace) };
}

async function ask({ list, itemsPlace, query }: Probe, parameter: string | null): Promise<Page | null> {
  const all = [...query, ...(parameter === null ? [] : [parameter])];
  const document = await list.get(withQuery(list.path, all));
  return document === null ? null : pageOf(document, itemsPlace);
}

function withQuery(path: string, parameters: readonly string[]): string {
  return parameters.length === 0 ? path : `${path}${path.includes('?') ? '&' : '?'}${parameters.join('&')}`;
}

/** A page of one merchant shows the signs of a next one. */
async function shortPage(list: ProbedList, itemsPlace: string, first: Page) {
  for (const parameter of SIZES) {
    // oxlint-disable-next-line no-await-in-loop -- the first that works is enough
    const document = await list.get(withQuery(list.path, [`${parameter}=1`]));
    const page = document === null ? null : pageOf(document, itemsPlace);
    if (page?.items.length === 1 && page.items[0] === first.items[0]) return { parameter, page };
  }
  return null;
}

/** Another page: none of its merchants stands on this one. */
function isOther(page: Page | null, than: Page): boolean {
  return page !== null && page.items.length > 0 && page.items.every((item) => !than.items.includes(item));
}

async function byLink({ list, page, itemsPlace }: Probe): Promise<Recognised | null> {
  const { link } = page.signs;
  if (link?.address === null || link === null) return null;
  const path = pathBelow(link.address, list);
  if (path === null) return [missing('merchants.nextLink', `the next page at ${link.place} is at another address`)];
  const next = await list.get(path);
  if (next === null || !isOther(pageOf(next, itemsPlace), page)) return null;
  return [
    seen('merchants.paging', 'link', 'the address of the next page led to other merchants'),
    seen('merchants.nextLink', link.place, 'the address of the next page stands there'),
  ];
}

/** Only below the base address: the API key goes nowhere else. */
function pathBelow(address: string, { baseUrl, path }: ProbedList): string | null {
  const base = new URL(`${baseUrl}${path}`);
  if (!URL.canParse(address, base.href)) return null;
  const { href } = new URL(address, base.href);
  return href.startsWith(`${baseUrl}/`) ? href.slice(baseUrl.length) : null;
}

async function byCursor(probe: Probe): Promise<Recognised | null> {
  const { cursor, more } = probe.page.signs;
  if (cursor === null || cursor.value === null) return null;
  const named = cursorName(cursor.key);
  for (const parameter of new Set([named, ...CURSORS])) {
    // oxlint-disable-next-line no-await-in-loop
    const next = await ask(probe, `${encodeURIComponent(parameter)}=${encodeURIComponent(cursor.value)}`);
    if (isOther(next, probe.page))
      return [
        seen('merchants.paging', 'cursor', `${parameter} with the cursor led to other merchants`),
        seen('merchants.nextCursor', cursor.place, 'the cursor of the next page stands there'),
        seen('merchants.cursorParameter', parameter, 'it led to other merchants'),
      ];
  }
  return more === null
    ? [missing('merchants.cursorParameter', `no known parameter takes the cursor at ${cursor.place}`)]
    : null;
}

/** `next_page_token` is sent as `page_token`. */
function cursorName(key: string): string {
  const name = key.replace(/^next_?/i, '');
  return name.charAt(0).toLowerCase() + name.slice(1);
}

/** The list goes on after the last id, as long as a flag says so. */
async function byLast(probe: Probe): Promise<Recognised | null> {
  const { more, list, page, itemsPlace } = probe;
  const last = page.items.at(-1);
  if (more?.value !== true || last === undefined || list.idPlace === null || !list.idPlace.startsWith('/')) return null;
  const body: unknown = JSON.parse(last);
  const steps = list.idPlace.slice(1).split('/');
  const id = String(steps.reduce<unknown>((value, step) => (value as Record<string, unknown> | null)?.[step], body));
  if (placesOfId({ body }, id).length === 0) return null;
  for (const parameter of AFTER_LAST) {
    // oxlint-disable-next-line no-await-in-loop
    const next = await ask(probe, `${parameter}=${encodeURIComponent(id)}`);
    if (!isOther(next, page)) continue;
    const flag = more.place.startsWith('/')
      ? jsonataPath(more.place.slice(1).split('/'))
      : more.place.slice('jsonata:'.length);
    const items = jsonataPath(itemsPlace.slice(1).split('/'));
    const cursor = `jsonata:${flag} ? ${items}[-1].${jsonataPath(steps)}`;
    return [
      seen('merchants.paging', 'cursor', `${parameter} with the last id led to other merchants`),
      seen('merchants.nextCursor', cursor, 'the list goes on after its last id'),
      seen('merchants.cursorParameter', parameter, 'it led to other merchants'),
    ];
  }
  return null;
}

/** A parameter that a service does not know changes nothing; one that it knows leads to other merchants, or behind the last. */
async function byNumber(probe: Probe, first: Page): Promise<Recognised | null> {
  for (const parameter of PAGES) {
    // oxlint-disable-next-line no-await-in-loop
    const firstPage = await firstNumber(probe, parameter);
    if (firstPage !== null)
      return [
        seen('merchants.paging', 'page', `${parameter} led to another page`),
        seen('merchants.pageParameter', parameter, 'it led to another page'),
        seen('merchants.firstPage', firstPage, `${parameter}=${firstPage} is the first page`),
      ];
  }
  for (const parameter of OFFSETS) {
    // oxlint-disable-next-line no-await-in-loop
    const next = await ask(probe, `${parameter}=1`);
    const [second] = next?.items ?? [];
    if (next !== null && second === first.items[1] && second !== probe.page.items[0])
      return [
        seen('merchants.paging', 'offset', `${parameter}=1 begins with the second merchant`),
        seen('merchants.offsetParameter', parameter, `${parameter}=1 begins with the second merchant`),
      ];
  }
  return null;
}

async function firstNumber(probe: Probe, parameter: string): Promise<0 | 1 | null> {
  const one = await ask(probe, `${parameter}=1`);
  if (one === null) return null;
  const isFirst = (page: Page): boolean => page.items.length > 0 && page.items[0] === probe.page.items[0];
  const other = await ask(probe, `${parameter}=${isFirst(one) ? 2 : 0}`);
  if (other === null) return null;
  if (isFirst(one)) return isFirst(other) ? null : 1;
  return isFirst(other) ? 0 : null;
}

/** What says that the list ends; a number that counts something else would stop the reading of every list. */
function endSigns({ more, total, pages }: PagingSigns, way: Recognised | null): Recognised {
  const paging = way?.find(({ key }) => key === 'merchants.paging');
  const kind = paging !== undefined && 'value' in paging ? paging.value : null;
  const found: Finding[] = [];
  const byFlag = kind !== 'link';
  if (more !== null && byFlag) found.push(seen('merchants.more', more.place, `${String(more.value)} stands there`));
  if (total !== null && (kind === 'page' || kind === 'offset'))
    found.push(seen('merchants.total', total.place, 'the number of merchants there'));
  if (pages !== null && kind === 'page') found.push(seen('merchants.pages', pages.place, 'the number of pages there'));
  return found;
}

/** One page was all there is: its empty signs show what the next one would be. */
function signsAlone({ link, cursor }: PagingSigns, items: number): Recognised {
  const few = `the list has ${items} ${items === 1 ? 'merchant' : 'merchants'} and no second page`;
  if (cursor !== null)
    return [
      guessed('merchants.paging', 'cursor', few),
      guessed('merchants.nextCursor', cursor.place, 'empty there, by the name of the key'),
      guessed('merchants.cursorParameter', cursorName(cursor.key), `by the name of the key; ${few}`),
    ];
  if (link !== null)
    return [
      guessed('merchants.paging', 'link', few),
      guessed('merchants.nextLink', link.place, 'empty there, by the name of the key'),
    ];
  return [missing('merchants.paging', `${few}, and nothing shows how it goes on; Lote stops at a list that might`)];
}
