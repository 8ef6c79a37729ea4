import { isNothing, readPlace, type Document, type Place } from '../profile/place.ts';
import { ListProblem } from './merchant-page.ts';

const LONGEST = 8_192;
const LINK_HEADER = /^header:\s*link\s*$/i;
/** A proxy may decode these to path steps and so leave the base address. */
const HIDDEN_STEPS = /%2f|%5c|%2e/i;

/**
 * Returns the address of the next page as written, from the first place that has one; null if the page names none.
 * @throws ListProblem when a place holds a value that is no address.
 */
export function findNextLink(document: Document, place: Place): string | null {
  for (const one of [place].flat()) {
    const value = readPlace(document, one);
    const address = LINK_HEADER.test(one) && typeof value === 'string' ? nextOfHeader(value) : value;
    if (isNothing(address)) continue;
    if (typeof address === 'string' && address.length <= LONGEST) return address;
    throw new ListProblem(`what stands at ${one} (merchants.nextLink) is no address`);
  }
  return null;
}

function nextOfHeader(header: string): string | null {
  const links = parseLinkHeader(header);
  if (links === null) throw new ListProblem('the header Link is not written as RFC 8288 says');
  const next = new Set(
    links.filter(({ relations, anchored }) => relations.includes('next') && !anchored).map(({ target }) => target),
  );
  if (next.size > 1) throw new ListProblem(`the header Link names ${next.size} next pages`);
  const [address = null] = next;
  return address;
}

/**
 * Resolves an address on a page to a path below the base address.
 * @throws ListProblem for any other origin or path, because the API key is sent with the request.
 */
export function resolveNextLink(
  address: string,
  { baseUrl, path }: { readonly baseUrl: string; readonly path: string },
): string {
  if (!URL.canParse(address, baseUrl + path)) throw new ListProblem('the link to the next page is no address');
  const base = new URL(baseUrl);
  const next = new URL(address, baseUrl + path);
  if (next.origin !== base.origin)
    throw new ListProblem(
      `the link to the next page leads to ${next.origin} and not to ${base.origin}, and the API key goes nowhere else`,
    );
  const below = base.pathname.replace(/\/+$/, '');
  if (!next.pathname.startsWith(`${below}/`) || HIDDEN_STEPS.test(next.pathname))
    throw new ListProblem(
      `the link to the next page leads out of ${base.origin}${below}, and the API key goes nowhere else`,
    );
  return next.pathname.slice(below.length) + next.search;
}

type Link = ReturnType<typeof linkOf>;

const TARGET = /[\s,]*<([^>]*)>/y;
const PARAMETER = /\s*;\s*(?:([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*)))?)?/y;
const BETWEEN = /\s*(?:,|$)/y;

/** Parses a `Link` header (RFC 8288). Returns null if the header is malformed: no link in it can then be trusted. */
export function parseLinkHeader(header: string): readonly Link[] | null {
  const text = header.trim();
  const links: Link[] = [];
  let at = 0;

  function take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match !== null) at = pattern.lastIndex;
    return match;
  }

  while (at < text.length) {
    const target = take(TARGET)?.[1];
    if (target === undefined) return null;
    const parameters = new Map<string, string>();
    for (let match = take(PARAMETER); match !== null; match = take(PARAMETER)) {
      const [, name = '', quoted, bare = ''] = match;
      // RFC 8288: if a link has several rel parameters, the first counts.
      if (!parameters.has(name.toLowerCase()))
        parameters.set(name.toLowerCase(), quoted?.replaceAll(/\\(.)/g, '$1') ?? bare);
    }
    if (take(BETWEEN) === null) return null;
    links.push(linkOf(target, parameters));
  }
  return links;
}

/** Returns one link: its address as written, its `rel` words in lower case, and if it describes another document (`anchor`). */
function linkOf(target: string, parameters: ReadonlyMap<string, string>) {
  const relations = (parameters.get('rel') ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  return { target: target.trim(), relations, anchored: parameters.has('anchor') };
}
