import { z } from 'zod';
import { readPlace, shownPlace } from '../../service-profile/place.ts';
import type { ServiceProfile } from '../../service-profile/profile.ts';
import { isNothing } from './found.ts';
import { placesRead, type EndSaid } from './list-end.ts';
import { findNextLink, resolveNextLink } from './next-link.ts';
import { hasParameter, sizeParameters, withParameters } from './page-path.ts';
import type { Paging, Step } from './paging.ts';

type Merchants = ServiceProfile['merchants'];

/** A length check of zod would also look at what is no string, and throw at an object whose `length` cannot be compared. */
const Cursor = z
  .union([z.string(), z.number().int()])
  .transform(String)
  .refine((cursor) => cursor.length <= 4_096);

/** Each page holds what to send for the next one. */
export function cursorPaging(merchants: Merchants, path: string): Paging {
  const { nextCursor, cursorParameter } = merchants;
  const size = sizeParameters(merchants);
  const seen = new Set<string>();
  return {
    firstPath: withParameters(path, size),
    unnumberedPath: null,
    after({ page: { document }, read, said }) {
      const places = [...said.places, ...placesRead(document, [nextCursor])];
      if (said.flag === 'end') return last(said, places);
      const found = readPlace(document, nextCursor);
      if (isNothing(found))
        return last(said, places, `nothing stands at ${shownPlace(nextCursor)} (merchants.nextCursor)`);
      const cursor = Cursor.safeParse(found).data;
      if (cursor === undefined) return unknown(`no usable cursor at ${shownPlace(nextCursor)} (merchants.nextCursor)`);
      if (seen.has(cursor))
        return unknown(
          `page ${read.pages} repeats an earlier page's cursor (merchants.nextCursor, merchants.cursorParameter)`,
        );
      seen.add(cursor);
      return { kind: 'next', path: withParameters(path, [...size, [cursorParameter, cursor]]) };
    },
  };
}

/** Each page holds the address of the next one. */
export function linkPaging(
  merchants: Merchants,
  { path: first, baseUrl }: { readonly path: string; readonly baseUrl: string },
): Paging {
  const { nextLink } = merchants;
  const size = sizeParameters(merchants);
  const firstPath = withParameters(first, size);
  const seen = new Set([firstPath]);
  return {
    firstPath,
    unnumberedPath: null,
    after({ page: { document }, read, said, path: from }) {
      const places = [...said.places, ...placesRead(document, [nextLink])];
      if (said.flag === 'end') return last(said, places);
      const link = findNextLink(document, nextLink);
      if ('why' in link) return unknown(link.why);
      if (link.address === null)
        return last(said, said.places, `no next page at ${shownPlace(nextLink)} (merchants.nextLink)`);
      const next = resolveNextLink(link.address, { baseUrl, path: from });
      if ('why' in next) return unknown(next.why);
      const missing = size.filter(([name]) => !hasParameter(next.path, name));
      const path = withParameters(next.path, missing);
      if (seen.has(path)) return unknown(`page ${read.pages} repeats an earlier page's link (merchants.nextLink)`);
      seen.add(path);
      return { kind: 'next', path };
    },
  };
}

function last(said: EndSaid, places: readonly string[], found?: string): Step {
  const [more] = said.more;
  if (more !== undefined) return unknown([more, found ?? said.end[0]].join(', but '));
  return { kind: 'last', proved: said.end.length > 0, places };
}

function unknown(why: string): Step {
  return { kind: 'unknown', why };
}
