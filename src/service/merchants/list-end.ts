import { readPlace, type Document, type Place, wordAt } from '../profile/place.ts';
import type { ServiceProfile } from '../profile/profile.ts';
import {
  entriesBeside,
  numberOf,
  saysEnd,
  signOfKey,
  signOfLength,
  type Entry,
} from '../../domain/text/paging-signs.ts';

type Merchants = ServiceProfile['merchants'];

/** What has been read of a list, with this page. */
export interface ListRead {
  readonly items: number;
  readonly pages: number;
  readonly itemsOfPage: number;
}

/** What a page says about the end of the list at the places of the profile. */
export interface EndSaid {
  /** The flag alone. */
  readonly flag: 'end' | 'more' | null;
  /** What says that this page is the last, as phrases. */
  readonly end: readonly string[];
  /** What says that there is more, as phrases. */
  readonly more: readonly string[];
  readonly total: number | null;
}

const COUNT = /^\s*\d{1,15}\s*$/;

/** Reads `merchants.total`, `pages` and `more` of a page; `why`: what stands there says neither. */
export function readEnd(
  document: Document,
  read: ListRead,
  { total, pages, more }: Merchants,
): EndSaid | { readonly why: string } {
  const flag = flagAt(document, more);
  if (flag === undefined) return { why: 'what stands at merchants.more is neither yes nor no' };
  const merchantCount = countAt(document, total);
  if (merchantCount === undefined) return { why: 'what stands at merchants.total is no whole number' };
  const pageCount = countAt(document, pages);
  if (pageCount === undefined) return { why: 'what stands at merchants.pages is no whole number' };
  const end: string[] = [];
  const goesOn: string[] = [];
  if (flag !== null) (flag === 'end' ? end : goesOn).push(`merchants.more says ${flag === 'end' ? 'no' : 'yes'}`);
  if (merchantCount !== null)
    (merchantCount > read.items ? goesOn : end).push(
      `merchants.total says ${merchantCount} merchants, and ${read.items} were read`,
    );
  if (pageCount !== null)
    (pageCount > read.pages ? goesOn : end).push(
      `merchants.pages says ${pageCount} pages, and ${read.pages} were read`,
    );
  return { flag, end, more: goesOn, total: merchantCount };
}

/** null: nothing stands there; undefined: something else does. */
function flagAt(document: Document, place: Place | null): 'end' | 'more' | null | undefined {
  const value = place === null ? null : readPlace(document, place);
  if (isNothing(value)) return null;
  const word = wordAt(value) ?? '';
  if (/^(?:true|yes|1)$/i.test(word)) return 'more';
  return /^(?:false|no|0)$/i.test(word) ? 'end' : undefined;
}

/** null: nothing stands there; undefined: something else does. */
function countAt(document: Document, place: Place | null): number | null | undefined {
  const value = place === null ? null : readPlace(document, place);
  if (isNothing(value)) return null;
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
  return typeof value === 'string' && COUNT.test(value) ? Number(value) : undefined;
}

/** Whether a value is what services write where there is none. */
export function isNothing(value: unknown): value is undefined | null | '' {
  return value === undefined || value === null || value === '';
}

/** Where the profile looks for the next page; null: pages are counted. */
function nextPlace({ paging, nextCursor, nextLink }: Merchants): Place | null {
  if (paging === 'cursor') return nextCursor;
  return paging === 'link' ? nextLink : null;
}

/** The page that the profile calls the last. */
export interface LastPage {
  readonly document: Document;
  readonly read: ListRead;
  /** The page itself says so, however long it is. */
  readonly proved: boolean;
}

const COUNTING_HEADERS = ['x-total-count', 'x-total', 'total-count', 'x-pagination-total-count'];
const PAGE_COUNTING_HEADERS = ['x-total-pages', 'x-page-count', 'x-pagination-page-count'];

/**
 * A sign that a list goes on behind a page that the profile calls the last, as a phrase; null: there is none. A merchant on a page that was not read would
 * be created a second time, so that a sign stops the reading, even one that the service meant otherwise.
 */
export function signOfMore({ document, read, proved }: LastPage, merchants: Merchants): string | null {
  const { items, notPaging, pageSize, total, pages, more } = merchants;
  const next = nextPlace(merchants);
  // What stands where the profile reads the end is no sign; where it looks for a next page, only if the page says by other means that it is the last.
  const places = [total, pages, more, proved ? next : null].flat().filter((place) => place !== null);
  const entries = [...entriesBeside(document.body, { items: readPlace(document, items), notPaging, places })];
  const signs = [signOfHeaders(document, read, places), ...entries.map((entry) => signOfKey(entry, read, 'merchants'))];
  const sign = signs.find((found) => found !== null) ?? null;
  if (sign !== null || proved || saysWhole(document, entries, read, next)) return sign;
  if (pageSize !== null && read.itemsOfPage === pageSize)
    return `the page is as long as merchants.pageSize (${pageSize}), and nothing says that none follows`;
  return entries.map((entry) => signOfLength(entry, read.itemsOfPage)).find((found) => found !== null) ?? null;
}

function signOfHeaders(
  { headers = {} }: Document,
  { items, pages }: ListRead,
  places: readonly string[],
): string | null {
  const readByProfile = new Set(
    places.map((place) =>
      place
        .toLowerCase()
        .replace(/^header:/, '')
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

/** The answer itself says that this is the end. */
function saysWhole(document: Document, entries: readonly Entry[], read: ListRead, next: Place | null): boolean {
  if ([next ?? []].flat().some((place) => readPlace(document, place) !== undefined)) return true;
  return entries.some((entry) => saysEnd(entry, read));
}
