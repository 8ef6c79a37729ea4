import { isPlainObject, memberPointer } from '../json-pointer.ts';

/** How much of a list Lote has read. */
export interface PartRead {
  readonly items: number;
  readonly pages: number;
}

/** A member of a document (its path is a JSON Pointer), or a header (`header:x-total-count`), and its value. */
export type Entry = readonly [path: string, value: unknown];

/** Paging members are at the top or in an object like `meta.pagination`; deeper members describe something different. */
const DEPTH = 3;
/** An answer has few keys beside its items; Lote looks at no more than this. */
const MOST_KEYS = 200;

// Keys are compared without case, `_`, `-`, `$`, `@` and `.`: `next_page`, `nextPage` and `@odata.nextLink` are common.
const NEXT = /^(?:odata)?next(?:page|cursor|token|pagetoken|link|url|uri|href|offset|start|key|startingafter)?$/;
const MORE =
  /^(?:(?:has|is|are)?(?:more|next|nextpage|moreitems|moreresults|moredata)|truncated|istruncated|incomplete)$/;
const LAST = /^(?:is)?last(?:page)?$/;
const TOTAL =
  /^(?:odata)?(?:total|totalcount|totalitems|totalresults|totalrecords|totalelements|recordcount|recordstotal|count|resultcount)$/;
const PAGES = /^(?:totalpages|pagecount|pages|pagestotal|lastpage|numpages|maxpage)$/;
const PAGE = /^(?:page|pagenumber|pageno|currentpage|pageindex)$/;
const OFFSET = /^(?:offset|skip|startindex|startat)$/;
const SIZE = /^(?:limit|pagesize|perpage|itemsperpage|maxresults|size|pagelimit|max)$/;

/** True for the name of a member that only describes which part of a list this is. */
export function isPagingKey(name: string): boolean {
  return [NEXT, MORE, LAST, TOTAL, PAGES, PAGE, OFFSET, SIZE].some((known) => known.test(plain(name)));
}

/** Returns a phrase if this member shows that the list is longer than what was read, or null. `things` names the items. */
export function signOfKey([path, value]: Entry, { items, pages }: PartRead, things: string): string | null {
  const key = lastKey(path);
  const number = numberOf(value);
  if (MORE.test(key) && isTrue(value)) return `${path} says that there is more`;
  if (LAST.test(key) && value === false) return `${path} says that it is not the last page`;
  if (NEXT.test(key) && namesSomething(value)) return `${path} names a next page`;
  if (TOTAL.test(key) && Number.isInteger(number) && Number(number) > items)
    return `${path} counts ${number} ${things}, and ${items} were read`;
  if (PAGES.test(key) && number !== null && number > pages)
    return `${path} counts ${number} pages, and ${pages} were read`;
  return null;
}

/** Returns a phrase if this member shows that other pages precede this one, or null. */
export function signOfLaterPage([path, value]: Entry): string | null {
  const number = numberOf(value) ?? 0;
  const key = lastKey(path);
  if ((PAGE.test(key) && number > 1) || (OFFSET.test(key) && number > 0)) return `${path} is ${number}`;
  return null;
}

/** Returns a phrase if the page is as long as this member allows, or null. */
export function signOfLength([path, value]: Entry, itemsOfPage: number): string | null {
  const size = SIZE.test(lastKey(path)) ? numberOf(value) : null;
  if (size === null || size < 2 || itemsOfPage < size) return null;
  return `the page is as long as ${path} allows (${size}), and nothing says that none follows`;
}

/** True if a member says that the list ends here: an empty next page, a count that was reached, a flag. */
export function saysEnd([path, value]: Entry, read: PartRead): boolean {
  const key = lastKey(path);
  if (NEXT.test(key)) return !namesSomething(value);
  if (MORE.test(key)) return value === false || value === 0;
  if (LAST.test(key)) return value === true;
  return (TOTAL.test(key) && numberOf(value) === read.items) || (PAGES.test(key) && numberOf(value) === read.pages);
}

/** Yields every member of a document with its path as a JSON Pointer, except its list of items and the named keys and paths. */
export function* entriesBeside(
  answer: unknown,
  given: { readonly items?: unknown; readonly notPaging?: readonly string[]; readonly places?: readonly string[] },
): Generator<Entry> {
  const { items, notPaging = [], places = [] } = given;
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
      const here = memberPointer(path, key);
      if (keys > MOST_KEYS || below === items || places.includes(here) || ignored.has(plain(key))) continue;
      yield [here, below];
      yield* walk(below, here, depth - 1);
    }
  }
  yield* walk(answer, '', DEPTH);
}

function lastKey(path: string): string {
  return plain(path.slice(path.lastIndexOf('/') + 1).replace(/^header:(?:x-)?(?:pagination-)?/, ''));
}

/** Returns a number, also one written in digits; null for any other value. */
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

/** `next: null`, `next: ""`, `next: false` and `next: {"href": null}` name nothing. Deeper values count as something. */
function namesSomething(value: unknown, depth = DEPTH): boolean {
  if (typeof value === 'object' && value !== null && depth > 0)
    return Object.values(value).some((below) => namesSomething(below, depth - 1));
  return value !== null && value !== undefined && value !== false && value !== '' && value !== 0;
}
