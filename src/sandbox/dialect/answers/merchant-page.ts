import type { MerchantRecord } from '../../records.ts';
import type { IdForm } from '../id.ts';
import { writtenPlace } from '../place.ts';
import type { SpokenProfile } from '../spoken-profile.ts';
import { put, putIfFree } from './write-answer.ts';
import { WrittenDocument } from '../written-document.ts';

/** Merchants in a page when neither profile nor client says another number. */
const PAGE_SIZE = 100;
const LARGEST_PAGE = 10_000;

/** A request for a page, and what it is a page of. */
export interface PageAsked {
  readonly merchants: readonly MerchantRecord[];
  readonly url: URL;
  readonly host: string;
  readonly ids: IdForm;
}

/** Where a page stands in the list. */
interface Cut {
  readonly from: number;
  readonly size: number;
  readonly to: number;
  readonly total: number;
}

/** Writes a page of the list as the profile pages it; null: the parameters of the request name none. */
export function writePage(document: WrittenDocument, profile: SpokenProfile, asked: PageAsked): WrittenDocument | null {
  const { merchants } = profile;
  const cut = cutOf(merchants, asked);
  if (cut === null) return null;
  const items = asked.merchants.slice(cut.from, cut.to).map((merchant) => itemOf(profile, asked.ids, merchant));
  put(document, merchants.items, items);
  if (merchants.paging === 'cursor') writeCursor(document, merchants, cut);
  if (merchants.paging === 'link') writeLink(document, merchants, { cut, asked });
  if (merchants.total !== null) put(document, merchants.total, cut.total);
  if (merchants.pages !== null) put(document, merchants.pages, Math.ceil(cut.total / cut.size));
  if (merchants.more !== null) put(document, merchants.more, cut.to < cut.total);
  return document;
}

type Merchants = SpokenProfile['merchants'];

function itemOf({ merchants }: SpokenProfile, ids: IdForm, { id, nif }: MerchantRecord): unknown {
  const item = new WrittenDocument();
  put(item, merchants.id, ids.outer(id));
  putIfFree(item, merchants.nif, nif);
  return item.body;
}

function cutOf(merchants: Merchants, { merchants: all, url }: PageAsked): Cut | null {
  const size = sizeOf(merchants, url);
  if (size === null) return null;
  const from = firstOf(merchants, url, size);
  return from === null ? null : { from, size, to: Math.min(from + size, all.length), total: all.length };
}

function sizeOf({ sizeParameter, pageSize }: Merchants, { searchParams }: URL): number | null {
  const asked = sizeParameter === null ? null : searchParams.get(sizeParameter);
  if (asked === null) return pageSize ?? PAGE_SIZE;
  const size = wholeNumber(asked);
  return size === null || size < 1 || size > LARGEST_PAGE ? null : size;
}

/** How many merchants stand before the page. */
function firstOf(merchants: Merchants, { searchParams }: URL, size: number): number | null {
  const text = searchParams.get(parameterOf(merchants));
  if (text === null) return 0;
  if (merchants.paging === 'cursor') return positionOf(text);
  const number = wholeNumber(text);
  if (number === null || merchants.paging !== 'page') return number;
  return number < merchants.firstPage ? null : (number - merchants.firstPage) * size;
}

function parameterOf(merchants: Merchants): string {
  const { paging, cursorParameter, pageParameter, offsetParameter, sizeParameter } = merchants;
  if (paging === 'link') return sizeParameter === 'after' ? 'behind' : 'after';
  return { cursor: cursorParameter, page: pageParameter, offset: offsetParameter }[paging];
}

function writeCursor(document: WrittenDocument, { nextCursor }: Merchants, { to, total }: Cut): void {
  const place = writtenPlace(nextCursor);
  const isLast = to >= total;
  if (place === null || (isLast && place.kind === 'header')) return;
  document.write(place, isLast ? null : Buffer.from(`after ${to}`).toString('base64url'));
}

/** The header also names the first page, as many services do, so that it stands there on the last page too. */
function writeLink(
  document: WrittenDocument,
  merchants: Merchants,
  { cut, asked }: { readonly cut: Cut; readonly asked: PageAsked },
): void {
  const place = writtenPlace(merchants.nextLink);
  if (place === null) return;
  const next = new URL(asked.url);
  next.searchParams.set(parameterOf(merchants), String(cut.to));
  const first = new URL(asked.url);
  first.searchParams.delete(parameterOf(merchants));
  const path = (url: URL): string => url.pathname + url.search;
  const isLast = cut.to >= cut.total;
  if (place.kind !== 'header') {
    document.write(place, isLast ? null : path(next));
    return;
  }
  const link = (url: URL, relation: string): string => `<http://${asked.host}${path(url)}>; rel="${relation}"`;
  if (/^link$/i.test(place.name))
    document.write(place, [...(isLast ? [] : [link(next, 'next')]), link(first, 'first')].join(', '));
  else if (!isLast) document.write(place, path(next));
}

function positionOf(cursor: string): number | null {
  const match = /^after (\d{1,9})$/.exec(Buffer.from(cursor, 'base64url').toString());
  return match === null ? null : Number(match[1]);
}

function wholeNumber(text: string): number | null {
  return /^\d{1,9}$/.test(text) ? Number(text) : null;
}
