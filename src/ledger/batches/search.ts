import type { Invoice } from '../../domain/invoice.ts';
import type { BatchInvoice, BatchRecord } from '../../domain/records/batch-record.ts';
import type { Database } from '../../database/database.ts';
import { LINE_COLUMNS } from './lines.ts';

/** An invoice that a search found, with its batch. */
export interface FoundInvoice extends BatchInvoice {
  readonly batchId: string;
  /** The application that owns the invoice. */
  readonly application: string;
  readonly file: string;
  /** When Lote read the file, epoch milliseconds. */
  readonly readAt: number;
}

/** Search criteria. An invoice must match all the given ones; the caller gives at least one of `words`, `net`, `from` and `before`. */
export interface InvoiceSearch {
  /**
   * A whole reference, merchant's NIF or service id; or a part of a reference, of a customer's or merchant's name, or
   * of a customer's tax number. Accents and capitals count only in whole values.
   */
  readonly words?: string;
  /** True searches for the words as a part even if an index already gives an answer. */
  readonly parts?: boolean;
  /** Net amount of the invoice, a canonical decimal. */
  readonly net?: string;
  /** Epoch milliseconds: Lote read the file at this time or later. */
  readonly from?: number;
  /** Epoch milliseconds: Lote read the file before this time. */
  readonly before?: number;
}

/** A line of a batch; a continued search begins after it. */
export interface SearchPosition {
  readonly batchId: string;
  readonly ordinal: number;
}

/** Limits of one search. */
export interface SearchBounds {
  /** The highest number of results. */
  readonly results: number;
  /** The highest number of invoices to look at one by one. */
  readonly lookedAt: number;
  /** Continue after this line. The default is to begin with the newest batch. */
  readonly after?: SearchPosition;
}

/** The results of a search, and the range that it searched. */
export interface InvoiceSearchResult {
  /** Newest batch first. */
  readonly found: readonly FoundInvoice[];
  /** The number of invoices that the search looked at one by one; 0 if indexes gave the answer. */
  readonly lookedAt: number;
  /** When Lote read the oldest file that was searched (epoch milliseconds); null if the search looked at no file. */
  readonly backTo: number | null;
  /** Where to continue with older invoices; null if the search looked at all of them. */
  readonly next: SearchPosition | null;
}

const FOUND_COLUMNS = `l.batch_id, l.application, l.file, l.read_at, ${LINE_COLUMNS}`;

/**
 * Parameters: words, limit. Finds lines by reference, merchant NIF or service id of any generation. Each branch has its
 * own index and limit, so that a merchant of a million invoices costs no more than the answer.
 */
const FIND_INVOICES = `/* find-invoices */
WITH hit AS (
  (SELECT batch_id, ordinal FROM batch_invoice WHERE invoice_ref = $1 LIMIT $2)
  UNION (SELECT batch_id, ordinal FROM batch_invoice WHERE merchant_nif = $1 LIMIT $2)
  UNION (SELECT batch_id, ordinal FROM batch_invoice WHERE invoice_id = (SELECT invoice_id FROM document WHERE service_id = $1) LIMIT $2)
)
SELECT ${FOUND_COLUMNS}
FROM hit JOIN batch_line l ON l.batch_id = hit.batch_id AND l.ordinal = hit.ordinal
ORDER BY l.seq DESC, l.ordinal
LIMIT $2`;

/** Searches invoices; `createLookup` describes the order. */
export async function searchInvoices(
  database: Database,
  search: InvoiceSearch,
  bounds: SearchBounds,
): Promise<InvoiceSearchResult> {
  const { words, parts = false, net, from, before } = search;
  // PostgreSQL text cannot hold NUL, and words without a letter, a digit or a sign would match every invoice.
  const matchesNothing = words !== undefined && (words.includes('\u0000') || folded(words) === '');
  if (matchesNothing) return { found: [], lookedAt: 0, backTo: null, next: null };
  const onlyWords = !parts && net === undefined && from === undefined && before === undefined;
  if (onlyWords && words !== undefined && bounds.after === undefined) {
    // The indexes return hits in no order. If there are more than fit, the limit would keep arbitrary ones.
    const rows = await database.query<FoundInvoice>(FIND_INVOICES, [words, bounds.results + 1]);
    if (rows.length > 0 && rows.length <= bounds.results) return { found: rows, lookedAt: 0, backTo: null, next: null };
  }
  return lookThrough(database, search, bounds);
}

/** Lines read by one statement. PGlite runs one statement at a time, so a search must not delay the recording of the service's answers. */
const PORTION = 2_000;
const BATCHES = 200;

/** Looks at the invoices of one batch after another, newest batch first, until it reaches the limit of results or of invoices. */
async function lookThrough(
  database: Database,
  search: InvoiceSearch,
  bounds: SearchBounds,
): Promise<InvoiceSearchResult> {
  const matches = matcherOf(search.words);
  const found: FoundInvoice[] = [];
  let lookedAt = 0;
  let backTo: number | null = null;
  for await (const { batchId, ordinal, to, readAt } of portions(database, search, bounds.after)) {
    if (lookedAt + to - ordinal > bounds.lookedAt) return { found, lookedAt, backTo, next: { batchId, ordinal } };
    backTo = readAt;
    const params = [batchId, ordinal, to, search.net ?? null, String(search.words !== undefined)];
    for (const { contents, ...row } of await database.query<SearchedRow>(SEARCHED_LINES, params)) {
      if (!matches(row, contents ?? [])) continue;
      found.push(row);
      if (found.length < bounds.results) continue;
      return { found, lookedAt: lookedAt + row.ordinal - ordinal, backTo, next: { batchId, ordinal: row.ordinal } };
    }
    lookedAt += to - ordinal;
  }
  return { found, lookedAt, backTo, next: null };
}

interface Portion extends SearchPosition {
  /** The last ordinal of the portion. */
  readonly to: number;
  readonly readAt: number;
}

async function* portions(
  database: Database,
  { from = 0, before = Number.MAX_SAFE_INTEGER }: InvoiceSearch,
  after: SearchPosition | undefined,
): AsyncGenerator<Portion> {
  let position = after;
  for (;;) {
    const params = [from, before, position?.batchId ?? null, BATCHES];
    const batches: readonly Pick<BatchRecord, 'batchId' | 'invoices' | 'startedAt'>[] = await database.query(
      SEARCHED_BATCHES,
      params,
    );
    for (const { batchId, invoices, startedAt: readAt } of batches) {
      const begin = position?.batchId === batchId ? position.ordinal : 0;
      for (let ordinal = begin; ordinal < invoices; ordinal += PORTION) {
        yield { batchId, ordinal, to: Math.min(ordinal + PORTION, invoices), readAt };
      }
      position = { batchId, ordinal: invoices };
    }
    if (batches.length < BATCHES) return;
  }
}

/** Parameters: from, before, batch at which to continue (or null), limit. Lists batches with invoices, newest first. */
const SEARCHED_BATCHES = `/* searched-batches */
SELECT batch_id, invoices, started_at FROM batch
WHERE invoices > 0 AND started_at >= $1::bigint AND started_at < $2::bigint
  AND ($3::text IS NULL OR seq <= (SELECT seq FROM batch WHERE batch_id = $3::text))
ORDER BY seq DESC LIMIT $4`;

interface SearchedRow extends FoundInvoice {
  /** The content of each generation as JSON; null when the search has no words. */
  readonly contents: readonly string[] | null;
}

/**
 * Parameters: batchId, ordinal after which to begin, last ordinal, net or null, whether to read the contents. The
 * statement uses only primary keys, so writers maintain no index for searches.
 */
const SEARCHED_LINES = `/* searched-lines */
SELECT ${FOUND_COLUMNS},
  CASE WHEN $5::text::boolean THEN (SELECT array_agg(c.content) FROM invoice_content c WHERE c.invoice_id = l.invoice_id) END AS contents
FROM batch_line l
WHERE l.batch_id = $1 AND l.ordinal > $2 AND l.ordinal <= $3 AND ($4::text IS NULL OR l.net = $4::text)
ORDER BY l.ordinal`;

/** The process compares the words itself: which characters a database counts as letters depends on its locale, and PGlite has none. */
function matcherOf(words: string | undefined): (row: FoundInvoice, contents: readonly string[]) => boolean {
  if (words === undefined) return () => true;
  const part = folded(words);
  const has = (text: string | null): boolean => text !== null && folded(text).includes(part);
  return ({ merchantNif, serviceId, ref }, contents) =>
    merchantNif === words || serviceId === words || has(ref) || contents.some((content) => namesIn(content).some(has));
}

function namesIn(content: string): readonly (string | null)[] {
  const { customer, merchant } = JSON.parse(content) as Invoice;
  return [customer.name, customer.taxId, merchant.legalName];
}

/** Removes accents, capitals and differences of white space. */
function folded(text: string): string {
  return text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase().trim().replaceAll(/\s+/gu, ' ');
}
