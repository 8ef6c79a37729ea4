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
  const [flag, total] = [flagAt(document, merchants.more), countAt(document, merchants.total)];
  const said = [
    ...(flag === null ? [] : [{ goesOn: flag, phrase: `merchants.more says ${flag ? 'yes' : 'no'}` }]),
    ...(total === null
      ? []
      : [{ goesOn: total > items, phrase: `merchants.total says ${total} merchants, and ${items} were read` }]),
  ];
  const phrase = (wanted: boolean): string | null => said.find(({ goesOn }) => goesOn === wanted)?.phrase ?? null;
  return { isLast: flag === false, end: phrase(false), more: phrase(true), total };
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

/** Returns the whole number at `merchants.total`; null if the page has none. @throws ListProblem */
function countAt(document: Document, place: Place | null): number | null {
  const value = place === null ? null : readPlace(document, place);
  if (isNothing(value)) return null;
  if (typeof value !== 'boolean' && /^\d{1,15}$/.test(wordAt(value) ?? '')) return Number(value);
  throw new ListProblem('what stands at merchants.total is no whole number');
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
  const beside = { items: readPlace(document, items), notPaging, places };
  const entries = [...entriesBeside(document.body, beside)];
  const sign = first(
    [...entriesOfHeaders(document, beside), ...entries].map((entry) => signOfKey(entry, read, 'merchants')),
  );
  // A header does not prove the end: `X-Count` may count the merchants of this page alone.
  const saysWhole =
    next.some((place) => readPlace(document, place) !== undefined) || entries.some((entry) => saysEnd(entry, read));
  if (sign !== null || isProved || saysWhole) return sign;
  if (pageSize !== null && read.itemsOfPage === pageSize)
    return `the page is as long as merchants.pageSize (${pageSize}), and nothing says that none follows`;
  return first(entries.map((entry) => signOfLength(entry, read.itemsOfPage)));
}

function first(signs: readonly (string | null)[]): string | null {
  return signs.find((found) => found !== null) ?? null;
}

/**
 * Returns the headers that the profile does not read as entries, like `X-Total-Count` and `X-Next-Page`. A header that
 * came twice may be joined with a comma, so each of its values is an entry.
 */
function entriesOfHeaders(
  { headers = {} }: Document,
  { places, notPaging }: { readonly places: readonly string[]; readonly notPaging: readonly string[] },
): readonly Entry[] {
  const plain = (place: string): string => place.toLowerCase().replaceAll(/[\s_-]/g, '');
  const ignored = new Set([...places, ...notPaging, ...notPaging.map((name) => `header:${name}`)].map(plain));
  return Object.entries(headers).flatMap(([name, values]): readonly Entry[] => {
    const path = `header:${name}`;
    if (ignored.has(plain(path))) return [];
    const texts = [values ?? ''].flat();
    if (name === 'link')
      return texts.some((text) => /rel\s*=\s*"?[^",;]*\bnext\b/i.test(text)) ? [['header:link/next', texts]] : [];
    const parts = texts.flatMap((text) => text.split(',')).map((text) => text.trim());
    // `Content-Range` ends with the count behind a slash.
    if (name === 'content-range') return parts.map((text) => ['header:content-range/total', text.split('/')[1] ?? '']);
    return parts.map((text) => [path, text]);
  });
}
