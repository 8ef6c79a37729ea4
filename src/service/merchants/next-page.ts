import { z } from 'zod';
import { isNothing, readPlace, shownPlace, type Document } from '../profile/place.ts';
import type { ServiceProfile } from '../profile/profile.ts';
import { ListProblem } from './merchant-page.ts';
import { findNextLink, resolveNextLink } from './next-link.ts';

/** The position of a list that is being read. */
export interface ListPosition {
  /** The number of the next page. */
  readonly number: number;
  /** Merchants that were read. */
  readonly items: number;
  /** The path of the present page. */
  readonly path: string;
  readonly baseUrl: string;
}

type Parameters = [name: string, value: string][];

/** Returns the path of the list with the page size. A service answers it with its first page, whatever its number. */
export function firstPath({ merchants, requests }: ServiceProfile): string {
  return withParameters(requests.listMerchants.path, sizeParameters(merchants));
}

/** `.max()` of zod would also read the `length` of an object, and throw if that cannot be compared. */
const Cursor = z
  .union([z.string(), z.number().int()])
  .transform(String)
  .refine((cursor) => cursor.length <= 4_096);

/** Returns the path of the page after this one, by `merchants.paging`; null if this page names none. @throws ListProblem */
export function nextPath(document: Document, at: ListPosition, { merchants, requests }: ServiceProfile): string | null {
  const size = sizeParameters(merchants);
  const pathWith = (name: string, value: string | number): string =>
    withParameters(requests.listMerchants.path, [...size, [name, String(value)]]);
  switch (merchants.paging) {
    case 'page':
      return pathWith(merchants.pageParameter, at.number);
    case 'offset':
      return pathWith(merchants.offsetParameter, at.items);
    case 'cursor': {
      const found = readPlace(document, merchants.nextCursor);
      if (isNothing(found)) return null;
      const cursor = Cursor.safeParse(found);
      if (cursor.success) return pathWith(merchants.cursorParameter, cursor.data);
      throw new ListProblem(`no usable cursor at ${shownPlace(merchants.nextCursor)} (merchants.nextCursor)`);
    }
    case 'link': {
      const address = findNextLink(document, merchants.nextLink);
      if (address === null) return null;
      const next = resolveNextLink(address, at);
      // Only missing parameters are appended: Lote does not rewrite the service's own query.
      const [, query = ''] = next.split(/\?(.*)/s);
      const missing = size.filter(([name]) => !new URLSearchParams(query).has(name));
      if (missing.length === 0) return next;
      return `${next}${next.includes('?') ? '&' : '?'}${queryOf(new URLSearchParams(missing))}`;
    }
  }
}

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
function sizeParameters({ sizeParameter, pageSize }: ServiceProfile['merchants']): Parameters {
  return sizeParameter === null || pageSize === null ? [] : [[sizeParameter, String(pageSize)]];
}
