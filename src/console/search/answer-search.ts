import type { Contradiction } from '../../domain/invoice-state.ts';
import type { FoundInvoice, InvoiceSearchResult } from '../../domain/ports/invoice-search.ts';
import type { InvoiceLookup } from '../../domain/ports/invoice-lookup.ts';
import type { SearchQuery } from './search-query.ts';

/** What a search found, as it is told to another process; `next` is the word with which an older one goes on. */
export interface SearchAnswer {
  readonly found: readonly (Pick<
    FoundInvoice,
    | ('batchId' | 'file' | 'readAt' | 'ordinal' | 'rows')
    | ('ref' | 'merchantNif' | 'state' | 'net' | 'currency' | 'serviceId' | 'reason')
  > & {
    /** A Lote of before does not say it. */
    readonly application?: string | undefined;
    /** As in `BatchInvoice`; a Lote of before says none of the two. */
    readonly flags?: readonly string[] | undefined;
    readonly contradictions?: readonly Contradiction[] | undefined;
  })[];
  readonly lookedAt: number;
  readonly backTo: number | null;
  readonly next: string | null;
}

/** Results of one answer; a reference or an id has a handful. */
const MOST_FOUND = 100;
/** Invoices that one request looks at one by one: under a second on both databases; the answer says where to go on. */
const MOST_LOOKED_AT = 100_000;

/** What the ledger finds, within the bounds of one answer; null where nothing was asked, or what was asked cannot be read. */
export async function answerSearch(
  ledger: Pick<InvoiceLookup, 'searchInvoices'>,
  { search, after }: SearchQuery,
): Promise<InvoiceSearchResult | null> {
  if (search === null) return null;
  const bounds = { results: MOST_FOUND, lookedAt: MOST_LOOKED_AT };
  return ledger.searchInvoices(search, after === null ? bounds : { ...bounds, after });
}
