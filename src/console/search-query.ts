import { typedAmount } from '../domain/money.ts';
import { DAY_MS } from '../domain/time/day-ms.ts';
import { dayStart } from '../domain/time/zone-offsets.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { InvoiceSearch, InvoiceSearchResult, SearchPosition } from '../ledger/batches/search.ts';

const LONGEST_SEARCH = 200;

interface SearchFields {
  readonly q: string;
  readonly net: string;
  /** Calendar days, such as `2026-11-21`, in the console's zone; the last day is included. */
  readonly from: string;
  readonly to: string;
}

/** The same fields as a program sends them, and the position from which the search continues. */
export type SearchWish = Partial<SearchFields> & { readonly parts?: '1'; readonly after?: string };

/** A reader's search: the fields as typed, and their meaning. */
export interface SearchQuery {
  readonly fields: SearchFields;
  /** Null if all fields are empty, or one is not an amount or not a date. */
  readonly search: InvoiceSearch | null;
  /** The word with which an earlier answer continues; empty for the newest invoices. */
  readonly after: string;
  readonly mistakes: readonly { readonly kind: 'notAmount' | 'notDate'; readonly text: string }[];
}

/** Reads the address of a search. `get` returns one field of the address. */
export function readSearchQuery(get: (name: keyof SearchWish) => string | undefined, timeZone: string): SearchQuery {
  const field = (name: keyof SearchWish) => (get(name) ?? '').trim().slice(0, LONGEST_SEARCH);
  const fields = { q: field('q'), net: field('net'), from: field('from'), to: field('to') };
  const net = fields.net === '' ? null : typedAmount(fields.net);
  const from = fields.from === '' ? null : dayStart(fields.from, timeZone);
  const before = fields.to === '' ? null : dayAfter(fields.to, timeZone);
  const mistakes = [
    ...(fields.net !== '' && net === null ? [{ kind: 'notAmount' as const, text: fields.net }] : []),
    ...(fields.from !== '' && from === null ? [{ kind: 'notDate' as const, text: fields.from }] : []),
    ...(fields.to !== '' && before === null ? [{ kind: 'notDate' as const, text: fields.to }] : []),
  ];
  const search: InvoiceSearch = {
    ...(fields.q !== '' && { words: fields.q }),
    ...(get('parts') === '1' && { parts: true }),
    ...(net !== null && { net }),
    ...(from !== null && { from }),
    ...(before !== null && { before }),
  };
  const asked = Object.values(fields).some((text) => text !== '');
  return {
    fields,
    search: asked && mistakes.length === 0 ? search : null,
    after: field('after'),
    mistakes,
  };
}

/** Says why a query is not a search, for programs and the command line. */
export function unreadableSearch({ mistakes }: SearchQuery): string {
  const [first] = mistakes;
  if (first === undefined)
    return 'Searching: expected a reference, tax number, service id or part of a name, an amount (net), or days (from, to); found none of them.';
  return first.kind === 'notAmount'
    ? `Searching: net must be an amount, such as 1234.50, found ${JSON.stringify(first.text)}.`
    : `Searching: from and to must be days, such as 2026-11-21, found ${JSON.stringify(first.text)}.`;
}

/** Returns the address of the same search with the additional parameters `over`. */
export function searchAddress(path: string, { fields }: SearchQuery, over: Readonly<Record<string, string>>): string {
  const given = Object.entries({ ...fields, ...over }).filter(([, value]) => value !== '');
  return `${path}?${new URLSearchParams(given).toString()}`;
}

function positionOf(word: string): SearchPosition | null {
  const [, ordinal, batchId] = /^(\d{1,9})-(.+)$/u.exec(word) ?? [];
  return ordinal === undefined || batchId === undefined ? null : { batchId, ordinal: Number(ordinal) };
}

function dayAfter(isoDate: string, timeZone: string): number | null {
  const start = dayStart(isoDate, timeZone);
  return start === null ? null : dayStart(new Date(Date.parse(isoDate) + DAY_MS).toISOString().slice(0, 10), timeZone);
}

/** The result of a search; `next` is the word with which the search continues to older invoices. */
export interface SearchAnswer extends Omit<InvoiceSearchResult, 'next'> {
  readonly next: string | null;
}

/** Maximum number of results in one answer; a reference or an id has a handful. */
const MOST_FOUND = 100;
/** Maximum number of invoices that one request looks at one by one: under a second on both databases; the answer says where to go on. */
const MOST_LOOKED_AT = 100_000;

/** Returns the ledger's results within the limits of one answer, or null if the query is empty or cannot be read. */
export async function answerSearch(
  ledger: Pick<Ledger, 'searchInvoices'>,
  { search, after }: SearchQuery,
): Promise<SearchAnswer | null> {
  if (search === null) return null;
  const position = positionOf(after);
  const bounds = { results: MOST_FOUND, lookedAt: MOST_LOOKED_AT };
  const result = await ledger.searchInvoices(search, position === null ? bounds : { ...bounds, after: position });
  const { next } = result;
  return { ...result, next: next === null ? null : `${next.ordinal}-${next.batchId}` };
}
