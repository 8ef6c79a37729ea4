import type {
  FoundInvoice,
  InvoiceSearch,
  InvoiceSearchResult,
  SearchBounds,
  SearchPosition,
} from '../../domain/ports/invoice-search.ts';
import type { Database } from '../database/database.ts';
import { foundInvoice } from './batch-invoice.ts';
import type { FoundInvoiceRow } from './lookup-sql.ts';
import { SEARCHED_BATCHES, SEARCHED_LINES } from './search-sql.ts';
import type { SearchedBatchRow } from './search-sql.ts';
import { namePattern, wordPattern } from './word-pattern.ts';

/** Lines of one statement. PGlite does one statement at a time: a search must not keep an answer of the service waiting. */
const PORTION = 2_000;
/** Batches that are asked for at once. */
const BATCHES = 200;
const LAST_MOMENT = Number.MAX_SAFE_INTEGER;

interface Portion extends SearchPosition {
  /** Ordinal that it ends with. */
  readonly to: number;
  readonly readAt: number;
}

/** Looks at the invoices of one batch after the other, the newest first, until the results or the bounds are full. */
export async function lookThrough(
  database: Database,
  search: InvoiceSearch,
  bounds: SearchBounds,
): Promise<InvoiceSearchResult> {
  const found: FoundInvoice[] = [];
  let lookedAt = 0;
  let backTo: number | null = null;
  if (search.words !== undefined && !canMatch(search.words)) return { found, lookedAt, backTo, next: null };
  for await (const portion of portions(database, search, bounds.after)) {
    if (lookedAt + portion.to - portion.ordinal > bounds.lookedAt) {
      return { found, lookedAt, backTo, next: { batchId: portion.batchId, ordinal: portion.ordinal } };
    }
    const limit = bounds.results - found.length;
    const rows = await database.query<FoundInvoiceRow>(SEARCHED_LINES, parametersOf(search, portion, limit));
    found.push(...rows.map(foundInvoice));
    const last = rows.length === limit ? rows.at(-1)?.ordinal : undefined;
    lookedAt += (last ?? portion.to) - portion.ordinal;
    backTo = portion.readAt;
    if (last !== undefined) return { found, lookedAt, backTo, next: { batchId: portion.batchId, ordinal: last } };
  }
  return { found, lookedAt, backTo, next: null };
}

/** No PostgreSQL text holds NUL; and words without a letter, a digit or a sign would match everything. */
function canMatch(words: string): boolean {
  return !words.includes('\u0000') && wordPattern(words) !== '';
}

function parametersOf(
  { words, net }: InvoiceSearch,
  portion: Portion,
  limit: number,
): readonly (string | number | null)[] {
  const patterns = words === undefined ? [null, null, null] : [words, wordPattern(words), namePattern(words)];
  return [portion.batchId, portion.ordinal, portion.to, net ?? null, ...patterns, limit];
}

async function* portions(
  database: Database,
  { from = 0, before = LAST_MOMENT }: InvoiceSearch,
  after: SearchPosition | undefined,
): AsyncGenerator<Portion> {
  let position: SearchPosition | undefined = after;
  for (;;) {
    const batches: readonly SearchedBatchRow[] = await database.query<SearchedBatchRow>(SEARCHED_BATCHES, [
      from,
      before,
      position?.batchId ?? null,
      BATCHES,
    ]);
    for (const { batch_id: batchId, invoices, started_at: readAt } of batches) {
      const begin = position?.batchId === batchId ? position.ordinal : 0;
      for (let ordinal = begin; ordinal < invoices; ordinal += PORTION) {
        yield { batchId, ordinal, to: Math.min(ordinal + PORTION, invoices), readAt };
      }
      position = { batchId, ordinal: invoices };
    }
    if (batches.length < BATCHES) return;
  }
}
