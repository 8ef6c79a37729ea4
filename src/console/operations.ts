import { z } from 'zod';
import { batchOutcomes, type FileShortfall, withShortfalls } from '../domain/batch-outcomes.ts';
import { LoteError } from '../domain/errors.ts';
import { givenOnly } from '../domain/given-only.ts';
import type { Outcome } from '../domain/invoice-state.ts';
import { typedAmount } from '../domain/money.ts';
import { countsByOutcome } from '../domain/outcome-counts.ts';
import type { ProfileMisfit } from '../domain/profile-misfit.ts';
import type { BatchRecord } from '../domain/records/batch-record.ts';
import type { SavedTotalCheck } from '../domain/records/total-check.ts';
import { DAY_MS } from '../domain/time/instants.ts';
import { dayStart, ownZone } from '../domain/time/zone-offsets.ts';
import type { InvoiceSearch, InvoiceSearchResult, SearchPosition } from '../ledger/batches/search.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Purged } from '../ledger/operations/purge.ts';

/** A mistyped unit (400m for 400d) must not empty the ledger. */
export const SHORTEST_PURGE_AGE_MS = 24 * 60 * 60 * 1000;

/** A batch as a command or another process reads it, without the fencing token, which only the ledger uses. */
export interface ReadBatch extends Omit<BatchRecord, 'fencingToken'>, FileShortfall {
  readonly counts: Partial<Record<Outcome, number>>;
  readonly total: SavedTotalCheck | null;
}

/** A run that another process hands over to the owner of the data directory. */
export const RunRequest = z.object({
  /** Absolute paths. */
  files: z.array(z.string().min(1)).min(1),
  /** Options of the command: words, numbers, switches, and amounts by currency; the workflow checks their meaning. */
  options: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.record(z.string(), z.string())]))
    .default({}),
});
export type RunRequest = Readonly<z.infer<typeof RunRequest>>;

/** The batches that a run started or joined, one for each file, in their order. */
export interface RunAnswer {
  readonly batches: readonly { readonly batchId: string; readonly workflowId: string; readonly file: string }[];
}

/** The request of `lote purge`. */
export const PurgeRequest = z.object({ olderThanMs: z.int().min(SHORTEST_PURGE_AGE_MS), dryRun: z.boolean() });
export type PurgeRequest = Readonly<z.infer<typeof PurgeRequest>>;

/** Invoices of a batch by their references. */
export const RowsRequest = z.object({ batchId: z.string().min(1), refs: z.array(z.string()).min(1) });
export type RowsRequest = Readonly<z.infer<typeof RowsRequest>>;

/** Requests of a command to a ledger: its own, or that of the data directory's owner, whose JSON API has an address for each request. */
export interface Operations {
  /** Newest first. */
  batches(limit: number): Promise<readonly ReadBatch[]>;
  /** Resolves to null if the ledger does not know the batch. */
  batch(batchId: string): Promise<ReadBatch | null>;
  search(wish: SearchWish): Promise<SearchAnswer>;
  misfits(): Promise<readonly ProfileMisfit[]>;
  rowsOfRefs(request: RowsRequest): Promise<readonly { readonly ref: string; readonly rows: readonly number[] }[]>;
  purge(request: PurgeRequest): Promise<Purged>;
}

/** Creates the operations over the ledger of this process. */
export function ledgerOperations(ledger: Ledger, others: Pick<Operations, 'misfits' | 'purge'>): Operations {
  return {
    batches: async (limit) => readBatches(ledger, await ledger.listBatches(limit)),
    batch: (batchId) => readBatch(ledger, batchId),
    async search(wish) {
      const query = readSearchQuery((name) => wish[name], ownZone());
      const result = await answerSearch(ledger, query);
      if (result === null) throw new LoteError('usage', unreadableSearch(query));
      return result;
    },
    rowsOfRefs: ({ batchId, refs }) => ledger.rowsOfRefs(batchId, refs),
    ...others,
  };
}

/** Returns a batch as `readBatches` does, or null if the ledger does not know it. */
export async function readBatch(ledger: Ledger, batchId: string): Promise<ReadBatch | null> {
  const batch = await ledger.findBatch(batchId);
  return batch === null ? null : ((await readBatches(ledger, [batch]))[0] ?? null);
}

/** Returns each batch with its counts, its total and the possible problems of its file, in the given order. */
export async function readBatches(ledger: Ledger, batches: readonly BatchRecord[]): Promise<readonly ReadBatch[]> {
  const read = (await withShortfalls(ledger, batches)).map(async ({ batch, shortfall }) => {
    const { fencingToken: _, ...shown } = batch;
    const counts = countsByOutcome(await batchOutcomes(ledger, batch.batchId));
    return { ...shown, ...shortfall, counts, total: await ledger.totalCheck(batch.batchId) };
  });
  return Promise.all(read);
}

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
  const mistakes: SearchQuery['mistakes'][number][] = [];
  const read = <T>(text: string, kind: 'notAmount' | 'notDate', reader: (text: string) => T | null): T | undefined => {
    const value = text === '' ? undefined : reader(text);
    if (value === null) mistakes.push({ kind, text });
    return value ?? undefined;
  };
  const search: InvoiceSearch = givenOnly({
    words: fields.q === '' ? undefined : fields.q,
    parts: get('parts') === '1' ? true : undefined,
    net: read(fields.net, 'notAmount', typedAmount),
    from: read(fields.from, 'notDate', (day) => dayStart(day, timeZone)),
    before: read(fields.to, 'notDate', (day) => dayAfter(day, timeZone)),
  });
  const asked = Object.values(fields).some((text) => text !== '');
  return { fields, search: asked && mistakes.length === 0 ? search : null, after: field('after'), mistakes };
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
export function searchAddress({ fields }: SearchQuery, over: Readonly<Record<string, string>>): string {
  const given = Object.entries({ ...fields, ...over }).filter(([, value]) => value !== '');
  return `/search?${new URLSearchParams(given).toString()}`;
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
