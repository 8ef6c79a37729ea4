import type { ServiceProfile } from '../profile/profile.ts';
import { z } from 'zod';
import { readPlace, shownPlace } from '../profile/place.ts';
import { isNothing, type EndSaid, type ListRead } from './list-end.ts';
import { findNextLink, resolveNextLink } from './next-link.ts';
import type { MerchantPage } from './merchant-page.ts';

/** Paging of one reading of the list, by `merchants.paging`. */
export function startPaging({ merchants, requests }: ServiceProfile, baseUrl: string): Paging {
  const { path } = requests.listMerchants;
  if (merchants.paging === 'cursor') return cursorPaging(merchants, path);
  return merchants.paging === 'link' ? linkPaging(merchants, path, baseUrl) : countedPaging(merchants, path);
}

/**
 * Pages asked for by number, or by how many merchants were read. Such pages say nothing of each other: a merchant that comes
 * twice shows that the service ignores the parameter or that its order moved, and then another may have been passed over.
 */
function countedPaging(merchants: ServiceProfile['merchants'], path: string): Paging {
  const size = sizeParameters(merchants);
  const byPage = merchants.paging === 'page';
  const key = byPage ? 'pageParameter' : 'offsetParameter';
  const parameter = merchants[key];
  const seen = new Set<string>();
  let total = 0;
  let confirming = false;

  const pathOf = (place: number): string => withParameters(path, [...size, [parameter, String(place)]]);

  function problemOf({ page, read, said }: PageRead): string | null {
    const again = page.merchants.filter(({ merchantId }) => seen.has(merchantId)).length;
    for (const { merchantId } of page.merchants) seen.add(merchantId);
    if (again > 0)
      return (
        `${again} of the ${read.itemsOfPage} merchants of page ${read.pages} stood on an earlier page: the service does not page by ` +
        `${JSON.stringify(parameter)} (merchants.${key}), or the list changed while it was read`
      );
    if (said.total !== null && said.total < total)
      return `merchants.total went from ${total} to ${said.total} while the list was read`;
    total = said.total ?? total;
    return null;
  }

  return {
    firstPath: pathOf(byPage ? merchants.firstPage : 0),
    unnumberedPath: byPage ? withParameters(path, size) : null,
    after(pageRead): Step {
      const { read, said } = pageRead;
      const problem = problemOf(pageRead);
      if (problem !== null) return { kind: 'unknown', why: problem };
      const next = pathOf(byPage ? merchants.firstPage + read.pages : read.items);
      const [end] = said.end;
      const [more] = said.more;
      if (end !== undefined && more !== undefined) return { kind: 'unknown', why: `${more}, but ${end}` };
      if (end !== undefined) return { kind: 'last', proved: true };
      if (read.itemsOfPage === 0 && more !== undefined)
        return { kind: 'unknown', why: `page ${read.pages} is empty, but ${more}` };
      if (read.itemsOfPage === 0) return { kind: 'last', proved: false };
      if (confirming) return { kind: 'unknown', why: goesOnBehindShortPage(merchants.pageSize) };
      const short = merchants.endsAtShortPage && read.itemsOfPage < (merchants.pageSize ?? 0);
      if (more !== undefined || !short) return { kind: 'next', path: next };
      // A first page may be short because the service gives fewer than it was asked for.
      if (read.pages > 1) return { kind: 'last', proved: false };
      confirming = true;
      return { kind: 'next', path: next, confirms: true };
    },
  };
}

function goesOnBehindShortPage(pageSize: number | null): string {
  return (
    `it goes on behind a first page with fewer than ${pageSize} merchants. Set merchants.pageSize to what the service really gives, ` +
    'or merchants.endsAtShortPage to false'
  );
}

type Merchants = ServiceProfile['merchants'];

interface Followed {
  readonly firstPath: string;
  /** What a page has of the next one, with the settings that say so. */
  readonly what: string;
  /** Says that a page has none. */
  readonly where: string;
  /** How to ask for the page after this one; null: it names none. */
  readonly next: (read: PageRead) => { readonly path: string } | { readonly why: string } | null;
}

/** Each page says how to ask for the next one. */
function followedPaging({ firstPath, what, where, next }: Followed): Paging {
  const seen = new Set([firstPath]);
  return {
    firstPath,
    unnumberedPath: null,
    after(pageRead): Step {
      const { read, said } = pageRead;
      const found = said.flag === 'end' ? null : next(pageRead);
      if (found !== null && 'why' in found) return unknown(found.why);
      if (found === null) {
        const [more] = said.more;
        const end = said.flag === 'end' ? said.end[0] : where;
        return more === undefined ? { kind: 'last', proved: said.end.length > 0 } : unknown(`${more}, but ${end}`);
      }
      if (seen.has(found.path)) return unknown(`page ${read.pages} repeats an earlier page's ${what}`);
      seen.add(found.path);
      return { kind: 'next', path: found.path };
    },
  };
}

/** A length check of zod would also look at what is no string, and throw at an object whose `length` cannot be compared. */
const Cursor = z
  .union([z.string(), z.number().int()])
  .transform(String)
  .refine((cursor) => cursor.length <= 4_096);

function cursorPaging(merchants: Merchants, path: string): Paging {
  const { nextCursor, cursorParameter } = merchants;
  const size = sizeParameters(merchants);
  return followedPaging({
    firstPath: withParameters(path, size),
    what: 'cursor (merchants.nextCursor, merchants.cursorParameter)',
    where: `nothing stands at ${shownPlace(nextCursor)} (merchants.nextCursor)`,
    next({ page: { document } }) {
      const found = readPlace(document, nextCursor);
      if (isNothing(found)) return null;
      const cursor = Cursor.safeParse(found).data;
      if (cursor === undefined) return { why: `no usable cursor at ${shownPlace(nextCursor)} (merchants.nextCursor)` };
      return { path: withParameters(path, [...size, [cursorParameter, cursor]]) };
    },
  });
}

function linkPaging(merchants: Merchants, path: string, baseUrl: string): Paging {
  const { nextLink } = merchants;
  const size = sizeParameters(merchants);
  return followedPaging({
    firstPath: withParameters(path, size),
    what: 'link (merchants.nextLink)',
    where: `no next page at ${shownPlace(nextLink)} (merchants.nextLink)`,
    next({ page: { document }, path: from }) {
      const link = findNextLink(document, nextLink);
      if ('why' in link) return link;
      if (link.address === null) return null;
      const next = resolveNextLink(link.address, { baseUrl, path: from });
      if ('why' in next) return next;
      // What the service wrote stays as it is.
      const [, query = ''] = next.path.split(/\?(.*)/s);
      const missing = size.filter(([name]) => !new URLSearchParams(query).has(name));
      const more = queryOf(new URLSearchParams(missing));
      return { path: more === '' ? next.path : `${next.path}${next.path.includes('?') ? '&' : '?'}${more}` };
    },
  });
}

function unknown(why: string): Step {
  return { kind: 'unknown', why };
}

type Parameters = [name: string, value: string][];

/** A path with parameters of the query set; one of the same name that stands in it already is replaced. */
function withParameters(path: string, parameters: Parameters): string {
  if (parameters.length === 0) return path;
  const [before = '', query] = path.split(/\?(.*)/s);
  const search = new URLSearchParams(query);
  for (const [name] of parameters) search.delete(name);
  for (const [name, value] of parameters) search.append(name, value);
  return `${before}?${queryOf(search)}`;
}

/** `+` is a space in forms alone, and every other `+` is encoded already. */
function queryOf(search: URLSearchParams): string {
  return search.toString().replaceAll('+', '%20');
}

/** What each request says of the size of a page. */
function sizeParameters({ sizeParameter, pageSize }: Merchants): Parameters {
  return sizeParameter === null || pageSize === null ? [] : [[sizeParameter, String(pageSize)]];
}

/** Where a list goes on behind a page. */
export type Step =
  | {
      readonly kind: 'next';
      /** Below the base address, with its query. */
      readonly path: string;
      /** The profile says that the page was the last; this one is asked for because nothing else shows it. */
      readonly confirms?: true;
    }
  | {
      readonly kind: 'last';
      /** The page itself says so, however long it is. */
      readonly proved: boolean;
    }
  /** Not known, and why. */
  | { readonly kind: 'unknown'; readonly why: string };

/** A page with what was read up to it. */
export interface PageRead {
  readonly page: MerchantPage;
  readonly read: ListRead;
  /** What the page says at `total`, `pages` and `more` of the profile. */
  readonly said: EndSaid;
  /** Where the page came from. */
  readonly path: string;
}

/** How one list is paged, while it is read. */
export interface Paging {
  readonly firstPath: string;
  /** Pages have numbers, and this must lead to the first of them too; null: the first page needs no proof. */
  readonly unnumberedPath: string | null;
  after(read: PageRead): Step;
}
