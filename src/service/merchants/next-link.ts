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

/** One link of a `Link` header (RFC 8288): its address, its parameters, and the comma behind them. */
const LINK =
  /^[\s,]*<([^>]*)>((?:\s*;(?:\s*[!#$%&'*+.^_`|~0-9A-Za-z-]+(?:\s*=(?:\s*(?:"(?:[^"\\]|\\.)*"|[^\s;,"]+))?)?)?)*)\s*(?:,|$)/;
const PARAMETER = /;\s*([^\s;=]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*))/g;

/** Returns the address with `rel="next"`. No link of a malformed header can be trusted. @throws ListProblem */
function nextOfHeader(header: string): string | null {
  const next = new Set<string>();
  for (let rest = header.trim(); rest !== '';) {
    const [link, target = '', written = ''] = LINK.exec(rest) ?? [];
    if (link === undefined) throw new ListProblem('the header Link is not written as RFC 8288 says');
    const parameters = [...written.matchAll(PARAMETER)];
    const named = (wanted: string) => parameters.find(([, name = '']) => name.toLowerCase() === wanted);
    const [, , quoted, bare = ''] = named('rel') ?? [];
    // With `anchor`, the link is one of another document.
    if (/(?:^|\s)next(?:\s|$)/i.test(quoted ?? bare) && named('anchor') === undefined) next.add(target.trim());
    rest = rest.slice(link.length);
  }
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
