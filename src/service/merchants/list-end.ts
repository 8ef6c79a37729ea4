import { entriesBeside, saysEnd, signOfKey, signOfLength, type Entry } from '../../domain/text/paging-signs.ts';
import { isNothing, readPlace, type Document, type Place, wordAt } from '../profile/place.ts';
import type { ServiceProfile } from '../profile/profile.ts';
import { ListProblem } from './merchant-page.ts';

type Merchants = ServiceProfile['merchants'];

/** The counts of a list up to and including this page. */
interface ListRead {
  readonly items: number;
  readonly pages: number;
  readonly itemsOfPage: number;
}

/** What a page says about the end of the list, at the places of the profile. */
export type EndSaid = ReturnType<typeof readEnd>;

/**
 * Reads `merchants.total` and `more` of a page. `isLast`: the flag calls the page the last. `end` and `more` are phrases that say
 * that the list ends here or goes on, or null. @throws ListProblem when one of the two values has another form.
 */
export function readEnd(document: Document, { items }: ListRead, merchants: Merchants) {
  const flag = wordOf(document, merchants.more, /^(?:true|yes|1|false|no|0)$/i, 'more is neither yes nor no');
  const counted = wordOf(document, merchants.total, /^\d{1,15}$/, 'total is no whole number');
  const total = counted === null ? null : Number(counted);
  const goesOn = flag === null ? null : /^(?:true|yes|1)$/i.test(flag);
  const ofFlag = `merchants.more says ${goesOn === true ? 'yes' : 'no'}`;
  const ofTotal = `merchants.total says ${total} merchants, and ${items} were read`;
  const isCounted = total === null ? null : total > items;
  const phrase = (wanted: boolean): string | null =>
    goesOn === wanted ? ofFlag : isCounted === wanted ? ofTotal : null;
  return { isLast: goesOn === false, end: phrase(false), more: phrase(true), total };
}

/** Returns the word at a place; null if the page has none. @throws ListProblem when the word has another form. */
function wordOf(document: Document, place: Place | null, form: RegExp, otherwise: string): string | null {
  const value = place === null ? null : readPlace(document, place);
  if (isNothing(value)) return null;
  const word = wordAt(value) ?? '';
  if (form.test(word)) return word;
  throw new ListProblem(`what stands at merchants.${otherwise}`);
}

/**
 * Returns, as a phrase, a sign that a list goes on after a page that the profile calls the last; null without a sign.
 * Lote would create a merchant on an unread page a second time, so any sign stops the reading. `isProved`: the page
 * itself says that it is the last.
 */
export function signOfMore(
  { document, ...read }: ListRead & { readonly document: Document },
  isProved: boolean,
  { items, notPaging, pageSize, total, more, paging, nextCursor, nextLink }: Merchants,
): string | null {
  const next = [paging === 'cursor' ? nextCursor : paging === 'link' ? nextLink : []].flat();
  // Values at the places where the profile reads the end are no signs. A value at the place of the next page is no sign
  // either, if the page proves by other means that it is the last.
  const places = [total, more, isProved ? next : null].flat().filter((place) => place !== null);
  const entries = [...entriesBeside(document.body, { items: readPlace(document, items), notPaging, places })];
  const headers = entriesOfHeaders(document, [...places, ...notPaging]);
  const signs = [...headers, ...entries].map((entry) => signOfKey(entry, read, 'merchants'));
  // A header does not prove the end: `X-Count` may count the merchants of this page alone.
  const saysWhole =
    isProved ||
    next.some((place) => readPlace(document, place) !== undefined) ||
    entries.some((entry) => saysEnd(entry, read));
  if (!saysWhole && read.itemsOfPage === pageSize)
    signs.push(`the page is as long as merchants.pageSize (${pageSize}), and nothing says that none follows`);
  if (!saysWhole) signs.push(...entries.map((entry) => signOfLength(entry, read.itemsOfPage)));
  return signs.find((found) => found !== null) ?? null;
}

/**
 * Returns the headers that the profile does not read as entries, like `X-Total-Count` and `X-Next-Page`. A header that
 * came twice may be joined with a comma, so each of its values is an entry.
 */
function entriesOfHeaders({ headers = {} }: Document, read: readonly string[]): readonly Entry[] {
  const plain = (name: string): string => name.toLowerCase().replaceAll(/^header:|[\s_-]/g, '');
  const ignored = new Set(read.map(plain));
  return Object.entries(headers).flatMap(([name, values]): readonly Entry[] => {
    if (ignored.has(plain(name))) return [];
    const texts = [values ?? ''].flat();
    if (name === 'link')
      return texts.some((text) => /rel\s*=\s*"?[^",;]*\bnext\b/i.test(text)) ? [['header:link/next', texts]] : [];
    const parts = texts.flatMap((text) => text.split(',')).map((text) => text.trim());
    // `Content-Range` ends with the count behind a slash.
    if (name === 'content-range') return parts.map((text) => ['header:content-range/total', text.split('/')[1] ?? '']);
    return parts.map((text) => [`header:${name}`, text]);
  });
}
