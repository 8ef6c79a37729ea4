import { isNothing, readPlace, type Document, type Place, wordAt } from '../profile/place.ts';
import type { ServiceProfile } from '../profile/profile.ts';
import { entriesBeside, saysEnd, signOfKey, signOfLength } from '../../domain/text/paging-signs.ts';
import { ListProblem } from './merchant-page.ts';

type Merchants = ServiceProfile['merchants'];

/** The counts of a list up to and including this page. */
export interface ListRead {
  readonly items: number;
  readonly pages: number;
  readonly itemsOfPage: number;
}

/** The signs of a page about the end of the list, from the places of the profile. */
export interface EndSaid {
  /** True if the flag says that this page is the last. */
  readonly isLast: boolean;
  /** Phrases that say that this page is the last. */
  readonly end: readonly string[];
  /** Phrases that say that there is more. */
  readonly more: readonly string[];
  readonly total: number | null;
}

/** Reads `merchants.total`, `pages` and `more` of a page. @throws ListProblem when one of them has another form. */
export function readEnd(document: Document, read: ListRead, { total, pages, more }: Merchants): EndSaid {
  const flag = flagAt(document, more);
  const said = [
    { setting: 'total', things: 'merchants', count: countAt(document, total, 'total'), counted: read.items },
    { setting: 'pages', things: 'pages', count: countAt(document, pages, 'pages'), counted: read.pages },
  ].flatMap(({ setting, things, count, counted }) => {
    if (count === null) return [];
    return {
      goesOn: count > counted,
      phrase: `merchants.${setting} says ${count} ${things}, and ${counted} were read`,
    };
  });
  if (flag !== null) said.unshift({ goesOn: flag, phrase: `merchants.more says ${flag ? 'yes' : 'no'}` });
  const phrases = (wanted: boolean): string[] =>
    said.filter(({ goesOn }) => goesOn === wanted).map(({ phrase }) => phrase);
  return { isLast: flag === false, end: phrases(false), more: phrases(true), total: countAt(document, total, 'total') };
}

/** Tells whether the flag says that there is more; null if the page has no flag. @throws ListProblem */
function flagAt(document: Document, place: Place | null): boolean | null {
  const value = place === null ? null : readPlace(document, place);
  if (isNothing(value)) return null;
  const word = wordAt(value) ?? '';
  if (/^(?:true|yes|1)$/i.test(word)) return true;
  if (/^(?:false|no|0)$/i.test(word)) return false;
  throw new ListProblem('what stands at merchants.more is neither yes nor no');
}

const COUNT = /^\d{1,15}$/;

/** Returns the whole number at a place; null if the page has none. @throws ListProblem */
function countAt(document: Document, place: Place | null, setting: string): number | null {
  const value = place === null ? null : readPlace(document, place);
  if (isNothing(value)) return null;
  if (typeof value !== 'boolean' && COUNT.test(wordAt(value) ?? '')) return Number(value);
  throw new ListProblem(`what stands at merchants.${setting} is no whole number`);
}

/** Returns the place at which the profile looks for the next page; null if pages are counted. */
function nextPlace({ paging, nextCursor, nextLink }: Merchants): Place | null {
  if (paging === 'cursor') return nextCursor;
  return paging === 'link' ? nextLink : null;
}

/** The page that the profile calls the last. */
export interface LastPage {
  readonly document: Document;
  readonly read: ListRead;
  /** True if the page itself says that it is the last, regardless of its length. */
  readonly proved: boolean;
}

/**
 * Returns, as a phrase, a sign that a list goes on after a page that the profile calls the last; null without a sign.
 * Lote would create a merchant on an unread page a second time, so any sign stops the reading.
 */
export function signOfMore({ document, read, proved }: LastPage, merchants: Merchants): string | null {
  const { items, notPaging, pageSize, total, pages, more } = merchants;
  const next = nextPlace(merchants);
  // Values at the places where the profile reads the end are no signs. A value at the place of the next page is no sign
  // either, if the page proves by other means that it is the last.
  const places = [total, pages, more, proved ? next : null].flat().filter((place) => place !== null);
  const entries = [...entriesBeside(document.body, { items: readPlace(document, items), notPaging, places })];
  const signs = [signOfHeaders(document, read, places), ...entries.map((entry) => signOfKey(entry, read, 'merchants'))];
  const sign = signs.find((found) => found !== null) ?? null;
  const saysWhole =
    [next ?? []].flat().some((place) => readPlace(document, place) !== undefined) ||
    entries.some((entry) => saysEnd(entry, read));
  if (sign !== null || proved || saysWhole) return sign;
  if (pageSize !== null && read.itemsOfPage === pageSize)
    return `the page is as long as merchants.pageSize (${pageSize}), and nothing says that none follows`;
  return entries.map((entry) => signOfLength(entry, read.itemsOfPage)).find((found) => found !== null) ?? null;
}

const COUNTING_HEADERS = {
  items: ['x-total-count', 'x-total', 'total-count', 'x-pagination-total-count', 'content-range'],
  pages: ['x-total-pages', 'x-page-count', 'x-pagination-page-count'],
} as const;

function signOfHeaders({ headers = {} }: Document, read: ListRead, places: readonly string[]): string | null {
  const readByProfile = places.map((place) => /^header:\s*(.*?)\s*$/i.exec(place.toLowerCase())?.[1]);
  const text = (name: string): string => (readByProfile.includes(name) ? '' : [headers[name] ?? ''].flat().join(', '));
  if (/rel\s*=\s*"?[^",;]*\bnext\b/i.test(text('link'))) return 'the header Link names a next page';
  if (/\S/.test(text('x-next-page'))) return 'the header X-Next-Page names a next page';
  for (const what of ['items', 'pages'] as const) {
    // A header that came twice is joined with a comma; Content-Range ends with the count behind a slash.
    const countsMore = (name: string): boolean =>
      text(name)
        .split(',')
        .some((one) => Number(/(?:^|\/)\s*(\d+)\s*$/.exec(one)?.[1] ?? 0) > read[what]);
    const counter = COUNTING_HEADERS[what].find(countsMore);
    if (counter !== undefined)
      return `the header ${counter} says ${text(counter)}, and ${read[what]} ${what === 'items' ? 'merchants' : 'pages'} were read`;
  }
  return null;
}
