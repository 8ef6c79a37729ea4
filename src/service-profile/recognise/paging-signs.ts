import type { Document } from '../place.ts';
import { jsonataPath, leavesOf, plainKey, type Leaf } from './leaves.ts';

/** What a page of a list says about how it goes on, by the names of its keys. */
export interface PagingSigns {
  /** Address of the next page: its place, and what stands there; null: there is no next page. */
  readonly link: { readonly place: string; readonly address: string | null } | null;
  /** What to send for the next page. */
  readonly cursor: { readonly place: string; readonly key: string; readonly value: string | null } | null;
  /** Place of the flag that says whether there is more. */
  readonly more: { readonly place: string; readonly value: boolean } | null;
  readonly total: { readonly place: string; readonly value: number } | null;
  readonly pages: { readonly place: string; readonly value: number } | null;
}

// Compared as plainKey gives them; the names that REST clients look for when they find out the paging by themselves.
const LINK = /^(?:odata)?next(?:link|url|uri|href|page)?$/;
const CURSOR = /^(?:next(?:cursor|token|pagetoken|key|startingafter)|(?:end|after)?cursor|continuationtoken)$/;
const MORE = /^(?:(?:has|is|are)?(?:more|nextpage|moreitems|moreresults)|hasnext|truncated|istruncated)$/;
const LAST = /^(?:is)?last(?:page)?$/;
const TOTAL = /^(?:odata)?(?:total|totalcount|totalitems|totalresults|totalrecords|totalelements|count)$/;
const PAGES = /^(?:totalpages|pagecount|pages|numpages)$/;
const COUNTING_HEADERS: readonly string[] = ['xtotalcount', 'xtotal', 'totalcount', 'xpaginationtotalcount'];
/** Paging stands at the top of an answer, or in an object or two. */
const DEEPEST = 4;
const ADDRESS = /^(?:https?:\/\/|\/|\?)|\?[^ ]*=/i;

/** Reads the signs of paging beside the items of a list. */
export function pagingSigns(page: Document, itemsPlace: string): PagingSigns {
  const leaves = leavesOf(page.body).filter(
    ({ place, steps }) =>
      steps.length <= DEEPEST &&
      steps.every((step) => typeof step === 'string') &&
      !(itemsPlace !== '' && place.startsWith(`${itemsPlace}/`)),
  );
  return {
    link: linkIn(page, leaves),
    cursor: cursorIn(leaves),
    more: moreIn(leaves),
    total: countIn(leaves, TOTAL) ?? countHeader(page),
    pages: countIn(leaves, PAGES),
  };
}

function linkIn({ headers = {} }: Document, leaves: readonly Leaf[]): PagingSigns['link'] {
  const header = [headers['link'] ?? ''].flat().join(', ');
  if (header !== '')
    return { place: 'header:Link', address: /<([^>]*)>\s*;[^,<]*rel="?next"?/i.exec(header)?.[1] ?? null };
  const found = leaves.find(({ key, value, steps }) => {
    const named = LINK.test(key) || (key === 'href' && LINK.test(plainKey(String(steps.at(-2)))));
    return named && (value === null || value === '' || (typeof value === 'string' && ADDRESS.test(value)));
  });
  if (found === undefined) return null;
  return { place: found.place, address: typeof found.value === 'string' && found.value !== '' ? found.value : null };
}

function cursorIn(leaves: readonly Leaf[]): PagingSigns['cursor'] {
  const found = leaves.find(
    ({ key, value }) => CURSOR.test(key) && (value === null || typeof value === 'string' || typeof value === 'number'),
  );
  if (found === undefined) return null;
  const value = found.value === null || found.value === '' ? null : String(found.value);
  return { place: found.place, key: String(found.steps.at(-1)), value };
}

function moreIn(leaves: readonly Leaf[]): PagingSigns['more'] {
  const flag = leaves.find(({ key, value }) => MORE.test(key) && typeof value === 'boolean');
  if (flag !== undefined) return { place: flag.place, value: flag.value === true };
  const last = leaves.find(({ key, value }) => LAST.test(key) && typeof value === 'boolean');
  return last === undefined ? null : { place: `jsonata:$not(${jsonataPath(last.steps)})`, value: last.value === false };
}

function countIn(leaves: readonly Leaf[], keys: RegExp): PagingSigns['total'] {
  const found = leaves.find(({ key, value }) => keys.test(key) && typeof value === 'number' && Number.isInteger(value));
  return found === undefined ? null : { place: found.place, value: Number(found.value) };
}

function countHeader({ headers = {} }: Document): PagingSigns['total'] {
  const found = Object.entries(headers).find(
    ([name, value]) => COUNTING_HEADERS.includes(plainKey(name)) && /^\d{1,9}$/.test(String(value)),
  );
  return found === undefined ? null : { place: `header:${found[0]}`, value: Number(found[1]) };
}
