import { isPlainObject } from '../../domain/plain-object.ts';
import { readPlace, type Document, type Place } from '../../service-profile/place.ts';
import type { ListRead } from './list-end.ts';

/** How the profile reads the last page. */
interface LastPage {
  /** The list of merchants, which is not looked into. */
  readonly items: unknown;
  /** Where it looks for the next page; null: pages are counted. */
  readonly next: Place | null;
  /** Keys that it says mean no paging. */
  readonly notPaging: readonly string[];
  /** Merchants a page as the profile says; null: it does not. */
  readonly pageSize: number | null;
  /** Places from which the end was read: what stands there is no sign. */
  readonly places: readonly string[];
  /** What stands there says that this is the end. */
  readonly proved: boolean;
}

type Entry = readonly [path: string, value: unknown];

const COUNTING_HEADERS = ['x-total-count', 'x-total', 'total-count', 'x-pagination-total-count'];
const PAGE_COUNTING_HEADERS = ['x-total-pages', 'x-page-count', 'x-pagination-page-count'];

/** Paging stands at the top of an answer or in an object like `meta.pagination`; deeper, it belongs to something else. */
const DEPTH = 3;
/** An answer has few keys beside its items; more are not looked through. */
const MOST_KEYS = 200;

// Keys are compared without case, `_`, `-`, `$`, `@` and `.`: `next_page`, `nextPage` and `@odata.nextLink` are common.
const NEXT = /^(?:odata)?next(?:page|cursor|token|pagetoken|link|url|uri|href|offset|start|key|startingafter)?$/;
const MORE =
  /^(?:(?:has|is|are)?(?:more|next|nextpage|moreitems|moreresults|moredata)|truncated|istruncated|incomplete)$/;
const LAST = /^(?:is)?last(?:page)?$/;
const TOTAL =
  /^(?:odata)?(?:total|totalcount|totalitems|totalresults|totalrecords|totalelements|recordcount|recordstotal|count|resultcount)$/;
const PAGES = /^(?:totalpages|pagecount|pages|pagestotal|lastpage|numpages|maxpage)$/;
const SIZE = /^(?:limit|pagesize|perpage|itemsperpage|maxresults|size|pagelimit|max)$/;

/**
 * A sign that a list goes on behind a page that the profile calls the last, as a phrase; null: there is none. A merchant on a page that was not read would
 * be created a second time, so that a sign stops the reading, even one that the service meant otherwise.
 */
export function signOfMore(document: Document, read: ListRead, last: LastPage): string | null {
  const entries = [...entriesBeside(document.body, last)];
  const signs = [signOfHeaders(document, read, last), ...entries.map((entry) => signOfKey(entry, read))];
  const sign = signs.find((found) => found !== null) ?? null;
  if (sign !== null || last.proved || saysWhole(document, entries, read, last)) return sign;
  const { pageSize } = last;
  if (pageSize !== null && read.itemsOfPage === pageSize)
    return `the page is as long as merchants.pageSize (${pageSize}), and nothing says that none follows`;
  return entries.map((entry) => signOfLength(entry, read)).find((found) => found !== null) ?? null;
}

function signOfHeaders({ headers = {} }: Document, { items, pages }: ListRead, { places }: LastPage): string | null {
  const readByProfile = new Set(
    places.map((place) =>
      place
        .toLowerCase()
        .replace(/^header:\s*/, '')
        .trim(),
    ),
  );
  const text = (name: string): string => (readByProfile.has(name) ? '' : [headers[name] ?? ''].flat().join(', '));
  if (/rel\s*=\s*"?[^",;]*\bnext\b/i.test(text('link'))) return 'the header Link names a next page';
  if (/\S/.test(text('x-next-page'))) return 'the header X-Next-Page names a next page';
  const range = /\/(\d+)\s*$/.exec(text('content-range'))?.[1];
  if (range !== undefined && Number(range) > items)
    return `the header content-range counts ${range} merchants, and ${items} were read`;
  // A header that came twice is joined with a comma.
  const counts = (name: string): readonly (number | null)[] => text(name).split(', ').map(numberOf);
  const countsMore = (read: number) => (name: string) => counts(name).some((count) => count !== null && count > read);
  const counter = COUNTING_HEADERS.find(countsMore(items));
  if (counter !== undefined) return `the header ${counter} counts ${text(counter)} merchants, and ${items} were read`;
  const pageCounter = PAGE_COUNTING_HEADERS.find(countsMore(pages));
  return pageCounter === undefined
    ? null
    : `the header ${pageCounter} counts ${text(pageCounter)} pages, and ${pages} were read`;
}

function signOfKey([path, value]: Entry, { items, pages }: ListRead): string | null {
  const key = lastKey(path);
  const number = numberOf(value);
  if (MORE.test(key) && isTrue(value)) return `${path} says that there is more`;
  if (LAST.test(key) && value === false) return `${path} says that it is not the last page`;
  if (NEXT.test(key) && namesSomething(value)) return `${path} names a next page`;
  if (TOTAL.test(key) && number !== null && number > items)
    return `${path} counts ${number} merchants, and ${items} were read`;
  if (PAGES.test(key) && number !== null && number > pages)
    return `${path} counts ${number} pages, and ${pages} were read`;
  return null;
}

function signOfLength([path, value]: Entry, { itemsOfPage }: ListRead): string | null {
  const size = SIZE.test(lastKey(path)) ? numberOf(value) : null;
  if (size === null || size < 2 || itemsOfPage < size) return null;
  return `the page is as long as ${path} allows (${size}), and nothing says that none follows`;
}

/** The answer itself says that this is the end: an empty next page, a count that was reached, a flag. */
function saysWhole(document: Document, entries: readonly Entry[], read: ListRead, { next }: LastPage): boolean {
  if ([next ?? []].flat().some((place) => readPlace(document, place) !== undefined)) return true;
  return entries.some(([path, value]) => {
    const key = lastKey(path);
    if (NEXT.test(key)) return !namesSomething(value);
    if (MORE.test(key)) return value === false || value === 0;
    if (LAST.test(key)) return value === true;
    return (TOTAL.test(key) && numberOf(value) === read.items) || (PAGES.test(key) && numberOf(value) === read.pages);
  });
}

/** Every key beside the items and what the profile reads, with its path as a JSON Pointer. */
function* entriesBeside(answer: unknown, { items, notPaging, places }: LastPage): Generator<Entry> {
  const ignored = new Set(notPaging.map(plain));
  let keys = 0;
  function* walk(value: unknown, path: string, depth: number): Generator<Entry> {
    if (typeof value !== 'object' || value === null || depth === 0) return;
    if (Array.isArray(value)) {
      const links: readonly unknown[] = value.slice(0, MOST_KEYS);
      const next = links.find((link) => isPlainObject(link) && isRelationNext(link['rel']));
      if (next !== undefined) yield [`${path}/next`, next];
      return;
    }
    for (const [key, below] of Object.entries(value)) {
      keys += 1;
      const here = `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      if (keys > MOST_KEYS || below === items || places.includes(here) || ignored.has(plain(key))) continue;
      yield [here, below];
      yield* walk(below, here, depth - 1);
    }
  }
  yield* walk(answer, '', DEPTH);
}

function lastKey(path: string): string {
  return plain(path.slice(path.lastIndexOf('/') + 1));
}

function numberOf(value: unknown): number | null {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : null;
}

function plain(key: string): string {
  return key.toLowerCase().replaceAll(/[_\-$@.]/g, '');
}

function isTrue(value: unknown): boolean {
  return value === true || value === 1 || (typeof value === 'string' && /^(?:true|yes|1)$/i.test(value));
}

function isRelationNext(relation: unknown): boolean {
  return [relation].flat().some((one) => typeof one === 'string' && /^next$/i.test(one));
}

/** `next: null`, `next: ""`, `next: false` and `next: {"href": null}` name nothing. What is nested deeper counts as something. */
function namesSomething(value: unknown, depth = DEPTH): boolean {
  if (typeof value === 'object' && value !== null && depth > 0)
    return Object.values(value).some((below) => namesSomething(below, depth - 1));
  return value !== null && value !== undefined && value !== false && value !== '' && value !== 0;
}
