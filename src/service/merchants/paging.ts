import type { ServiceProfile } from '../profile/profile.ts';
import { z } from 'zod';
import { isNothing, readPlace, shownPlace } from '../profile/place.ts';
import type { EndSaid, ListRead } from './list-end.ts';
import { findNextLink, resolveNextLink } from './next-link.ts';
import { ListProblem, type MerchantPage } from './merchant-page.ts';

/** A page, with the counts of all pages up to this one. */
export interface PageRead {
  readonly page: MerchantPage;
  readonly read: ListRead;
  /** The values of the page at `total`, `pages` and `more` of the profile. */
  readonly said: EndSaid;
  /** The path of the page. */
  readonly path: string;
}

/** The step after a page of the list. */
export interface Step {
  /** The path of the next page below the base address, with its query; null if the page was the last. */
  readonly next: string | null;
  /** True if the last page itself says that it is the last, regardless of its length. */
  readonly proved?: boolean;
  /** True if the page is the last by the profile, but Lote asks for the next page because nothing else proves it. */
  readonly confirms?: boolean;
}

/** The paging state of one reading of the list. */
export interface Paging {
  readonly firstPath: string;
  /** Path without a page number, which must lead to the first page too; null if the first page needs no proof. */
  readonly unnumberedPath: string | null;
  /** Returns the step after a page. @throws ListProblem when Lote cannot tell whether the list goes on. */
  after(read: PageRead): Step;
}

/** Starts the paging for one reading of the list, by `merchants.paging`. */
export function startPaging({ merchants, requests }: ServiceProfile, baseUrl: string): Paging {
  const { path } = requests.listMerchants;
  if (merchants.paging === 'cursor') return cursorPaging(merchants, path);
  return merchants.paging === 'link' ? linkPaging(merchants, path, baseUrl) : countedPaging(merchants, path);
}

type Merchants = ServiceProfile['merchants'];

/**
 * Asks for pages by number, or by the count of merchants read. Such pages do not refer to each other: a merchant on two
 * pages shows that the service ignores the parameter or that the order changed, so another merchant may be missing.
 */
function countedPaging(merchants: Merchants, path: string): Paging {
  const { firstPage, pageSize, endsAtShortPage } = merchants;
  const size = sizeParameters(merchants);
  const byPage = merchants.paging === 'page';
  const key = byPage ? 'pageParameter' : 'offsetParameter';
  const parameter = merchants[key];
  const seen = new Set<string>();
  let total = 0;
  let confirming = false;

  const pathOf = (place: number): string => withParameters(path, [...size, [parameter, String(place)]]);

  function requireNew({ page, read, said }: PageRead): void {
    const again = page.merchants.filter(({ merchantId }) => seen.has(merchantId)).length;
    for (const { merchantId } of page.merchants) seen.add(merchantId);
    if (again > 0)
      throw new ListProblem(
        `${again} of the ${read.itemsOfPage} merchants of page ${read.pages} stood on an earlier page: the service does not page by ` +
          `${JSON.stringify(parameter)} (merchants.${key}), or the list changed while it was read`,
      );
    if (said.total !== null && said.total < total)
      throw new ListProblem(`merchants.total went from ${total} to ${said.total} while the list was read`);
    total = said.total ?? total;
  }

  return {
    firstPath: pathOf(byPage ? firstPage : 0),
    unnumberedPath: byPage ? withParameters(path, size) : null,
    after(pageRead): Step {
      requireNew(pageRead);
      const { read, said } = pageRead;
      const next = pathOf(byPage ? firstPage + read.pages : read.items);
      const [end] = said.end;
      const [more] = said.more;
      if (end !== undefined && more !== undefined) throw new ListProblem(`${more}, but ${end}`);
      if (end !== undefined) return { next: null, proved: true };
      if (read.itemsOfPage === 0 && more !== undefined)
        throw new ListProblem(`page ${read.pages} is empty, but ${more}`);
      if (read.itemsOfPage === 0) return { next: null };
      if (confirming)
        throw new ListProblem(
          `it goes on behind a first page with fewer than ${pageSize} merchants. Set merchants.pageSize to what the service really gives, ` +
            'or merchants.endsAtShortPage to false',
        );
      const isShort = endsAtShortPage && read.itemsOfPage < (pageSize ?? 0);
      if (more !== undefined || !isShort) return { next };
      // A first page may be short because the service returns fewer merchants than Lote asked for.
      confirming = read.pages === 1;
      return confirming ? { next, confirms: true } : { next: null };
    },
  };
}

interface Followed {
  readonly firstPath: string;
  /** The name of the value that leads to the next page, with its settings, for messages. */
  readonly what: string;
  /** The phrase that says that a page has no such value. */
  readonly where: string;
  /** Returns the path of the page after this one; null if this page names none. @throws ListProblem */
  readonly next: (read: PageRead) => string | null;
}

/** Follows pages that each say how to ask for the next one. */
function followedPaging({ firstPath, what, where, next }: Followed): Paging {
  const seen = new Set([firstPath]);
  let idsBefore = '';
  return {
    firstPath,
    unnumberedPath: null,
    after(pageRead): Step {
      const { page, read, said } = pageRead;
      if (page.ids !== '' && page.ids === idsBefore)
        throw new ListProblem(
          `page ${read.pages} holds the same merchants as the page before: the service does not page by the ${what}`,
        );
      idsBefore = page.ids;
      const path = said.isLast ? null : next(pageRead);
      if (path === null) {
        const [more] = said.more;
        if (more !== undefined) throw new ListProblem(`${more}, but ${said.isLast ? said.end[0] : where}`);
        return { next: null, proved: said.end.length > 0 };
      }
      if (seen.has(path)) throw new ListProblem(`page ${read.pages} repeats an earlier page's ${what}`);
      seen.add(path);
      return { next: path };
    },
  };
}

/** `.max()` of zod would also read the `length` of an object, and throw if that cannot be compared. */
const Cursor = z
  .union([z.string(), z.number().int()])
  .transform(String)
  .refine((cursor) => cursor.length <= 4_096);

function cursorPaging(merchants: Merchants, path: string): Paging {
  const { nextCursor, cursorParameter } = merchants;
  const size = sizeParameters(merchants);
  const place = `${shownPlace(nextCursor)} (merchants.nextCursor)`;
  return followedPaging({
    firstPath: withParameters(path, size),
    what: 'cursor (merchants.nextCursor, merchants.cursorParameter)',
    where: `nothing stands at ${place}`,
    next({ page: { document } }) {
      const found = readPlace(document, nextCursor);
      if (isNothing(found)) return null;
      const cursor = Cursor.safeParse(found).data;
      if (cursor === undefined) throw new ListProblem(`no usable cursor at ${place}`);
      return withParameters(path, [...size, [cursorParameter, cursor]]);
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
      const address = findNextLink(document, nextLink);
      if (address === null) return null;
      const next = resolveNextLink(address, { baseUrl, path: from });
      // Only missing parameters are appended: Lote does not rewrite the service's own query.
      const [, query = ''] = next.split(/\?(.*)/s);
      const missing = size.filter(([name]) => !new URLSearchParams(query).has(name));
      if (missing.length === 0) return next;
      return `${next}${next.includes('?') ? '&' : '?'}${queryOf(new URLSearchParams(missing))}`;
    },
  });
}

type Parameters = [name: string, value: string][];

/** Sets query parameters in a path. A parameter replaces an existing one of the same name. */
function withParameters(path: string, parameters: Parameters): string {
  if (parameters.length === 0) return path;
  const [before = '', query] = path.split(/\?(.*)/s);
  const search = new URLSearchParams(query);
  for (const [name] of parameters) search.delete(name);
  for (const [name, value] of parameters) search.append(name, value);
  return `${before}?${queryOf(search)}`;
}

/** Writes spaces as `%20`, because `+` means a space only in forms. Every literal `+` is encoded already. */
function queryOf(search: URLSearchParams): string {
  return search.toString().replaceAll('+', '%20');
}

/** Returns the query parameter that asks for a page size. */
function sizeParameters({ sizeParameter, pageSize }: Merchants): Parameters {
  return sizeParameter === null || pageSize === null ? [] : [[sizeParameter, String(pageSize)]];
}
