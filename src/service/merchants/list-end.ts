import { readPlace, type Document, type Place } from '../../service-profile/place.ts';
import type { ServiceProfile } from '../../service-profile/profile.ts';
import { wordAt } from '../../service-profile/word.ts';
import { isNothing, placeRead } from './found.ts';

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
  /** Places that were read for it. */
  readonly places: readonly string[];
}

const COUNT = /^\s*\d{1,15}\s*$/;

/** Reads `merchants.total`, `pages` and `more` of a page; `why`: what stands there says neither. */
export function readEnd(
  document: Document,
  read: ListRead,
  { total, pages, more }: ServiceProfile['merchants'],
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
  return { flag, end, more: goesOn, total: merchantCount, places: placesRead(document, [total, pages, more]) };
}

/** The places that count of some that the profile reads. */
export function placesRead(document: Document, places: readonly (Place | null)[]): readonly string[] {
  return places.flatMap((place) => (place === null ? [] : (placeRead(document, place) ?? [])));
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
