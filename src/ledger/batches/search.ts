import type { Invoice } from '../../domain/invoice.ts';
import type { BatchInvoice } from '../../domain/records/batch-record.ts';
import type { Database } from '../database/database.ts';
import { batchInvoice, LINE_COLUMNS, type LineRow } from './lines.ts';

/** An invoice that a search found, with the batch it stands in. */
export interface FoundInvoice extends BatchInvoice {
  readonly batchId: string;
  /** Whose invoice it is. */
  readonly application: string;
  readonly file: string;
  /** When the file was read, epoch milliseconds. */
  readonly readAt: number;
}

/** What people remember of an invoice. All that is given must hold; at least one of the four is given. */
export interface InvoiceSearch {
  /**
   * A whole reference, merchant's NIF or service id; or a part of a reference, of a customer's or merchant's name, or of a customer's tax number.
   * Accents and capitals count only in whole ones.
   */
  readonly words?: string;
  /** Look for the words as a part, too, where an index would give an answer already. */
  readonly parts?: boolean;
  /** Net of the invoice, a canonical decimal. */
  readonly net?: string;
  /** Epoch milliseconds: the file was read at this moment or later. */
  readonly from?: number;
  /** Epoch milliseconds: the file was read before this moment. */
  readonly before?: number;
}

/** A line of a batch; a search that goes on begins behind it. */
export interface SearchPosition {
  readonly batchId: string;
  readonly ordinal: number;
}

/** How far one search goes. */
export interface SearchBounds {
  /** Results at most. */
  readonly results: number;
  /** Invoices that are looked at one by one, at most. */
  readonly lookedAt: number;
  /** Go on behind this line; left out: begin with the newest. */
  readonly after?: SearchPosition;
}

/** What a search found, and how far it went. */
export interface InvoiceSearchResult {
  /** Newest batch first. */
  readonly found: readonly FoundInvoice[];
  /** Invoices that were looked at one by one; 0 where indexes gave the answer. */
  readonly lookedAt: number;
  /** When the oldest file among them was read; null: none was looked at. */
  readonly backTo: number | null;
  /** Older invoices were not looked at: where to go on; null: everything was. */
  readonly next: SearchPosition | null;
}

/** One result of a search. */
interface FoundRow extends LineRow, Pick<FoundInvoice, 'batchId' | 'application' | 'file' | 'readAt'> {}

const FOUND_COLUMNS = `l.batch_id, l.application, l.file, l.read_at, ${LINE_COLUMNS}`;

/**
 * words, limit: lines by reference, merchant NIF or service id of any generation. Each branch has its own index and limit, so that a merchant of a million
 * invoices costs no more than the answer.
 */
const FIND_INVOICES = `/* find-invoices */
WITH known AS (
  SELECT invoice_id FROM invoice WHERE service_id = $1
  UNION SELECT invoice_id FROM invoice_generation WHERE service_id = $1
), hit AS (
  (SELECT batch_id, ordinal FROM batch_invoice WHERE invoice_ref = $1 LIMIT $2)
  UNION (SELECT batch_id, ordinal FROM batch_invoice WHERE merchant_nif = $1 LIMIT $2)
  UNION (SELECT batch_id, ordinal FROM batch_invoice WHERE invoice_id IN (SELECT invoice_id FROM known) LIMIT $2)
)
SELECT ${FOUND_COLUMNS}
FROM hit JOIN batch_line l ON l.batch_id = hit.batch_id AND l.ordinal = hit.ordinal
ORDER BY l.seq DESC, l.ordinal
LIMIT $2`;

/** See `createLookup`. */
export async function searchInvoices(
  database: Database,
  search: InvoiceSearch,
  bounds: SearchBounds,
): Promise<InvoiceSearchResult> {
  const { words, parts = false, net, from, before } = search;
  // No PostgreSQL text holds NUL; and words without a letter, a digit or a sign would match everything.
  const matchesNothing = words !== undefined && (words.includes('\u0000') || folded(words) === '');
  if (matchesNothing) return { found: [], lookedAt: 0, backTo: null, next: null };
  const onlyWords = !parts && net === undefined && from === undefined && before === undefined;
  if (onlyWords && words !== undefined && bounds.after === undefined) {
    // The indexes give hits in no order: of more than fit, they would keep any.
    const rows = await database.query<FoundRow>(FIND_INVOICES, [words, bounds.results + 1]);
    if (rows.length > 0 && rows.length <= bounds.results)
      return { found: rows.map(foundInvoice), lookedAt: 0, backTo: null, next: null };
  }
  return lookThrough(database, search, bounds);
}

function foundInvoice({ batchId, application, file, readAt, ...row }: FoundRow): FoundInvoice {
  return { ...batchInvoice(row), batchId, application, file, readAt };
}

/** Lines of one statement. PGlite does one statement at a time: a search must not keep an answer of the service waiting. */
const PORTION = 2_000;
/** Batches that are asked for at once. */
const BATCHES = 200;

/** Looks at the invoices of one batch after the other, the newest first, until the results or the bounds are full. */
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
      found.push(foundInvoice(row));
      if (found.length < bounds.results) continue;
      return { found, lookedAt: lookedAt + row.ordinal - ordinal, backTo, next: { batchId, ordinal: row.ordinal } };
    }
    lookedAt += to - ordinal;
  }
  return { found, lookedAt, backTo, next: null };
}

interface Portion extends SearchPosition {
  /** Ordinal that it ends with. */
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
    const batches: readonly SearchedBatchRow[] = await database.query<SearchedBatchRow>(SEARCHED_BATCHES, params);
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

interface SearchedBatchRow {
  readonly batchId: string;
  readonly invoices: number;
  readonly startedAt: number;
}

/** from, before, batch at which to go on (or null), how many: batches with invoices, newest first. */
const SEARCHED_BATCHES = `/* searched-batches */
SELECT batch_id, invoices, started_at FROM batch
WHERE invoices > 0 AND started_at >= $1::bigint AND started_at < $2::bigint
  AND ($3::text IS NULL OR seq <= (SELECT seq FROM batch WHERE batch_id = $3::text))
ORDER BY seq DESC LIMIT $4`;

interface SearchedRow extends FoundRow {
  /** What the file said of each generation, as JSON; null where nothing is looked for in it. */
  readonly contents: readonly string[] | null;
}

/**
 * batchId, ordinal behind which to begin, ordinal to end with, net or null, whether to read the contents. It uses primary keys alone: a search costs no
 * writer an index.
 */
const SEARCHED_LINES = `/* searched-lines */
SELECT ${FOUND_COLUMNS},
  CASE WHEN $5::text::boolean THEN (SELECT array_agg(c.content) FROM invoice_content c WHERE c.invoice_id = l.invoice_id) END AS contents
FROM batch_line l
WHERE l.batch_id = $1 AND l.ordinal > $2 AND l.ordinal <= $3 AND ($4::text IS NULL OR l.net = $4::text)
ORDER BY l.ordinal`;

/** What a database takes for a letter depends on its locale, and PGlite has none: therefore the words are looked for here. */
function matcherOf(words: string | undefined): (row: FoundRow, contents: readonly string[]) => boolean {
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

/** Without accents, capitals and differences of white space. */
function folded(text: string): string {
  return text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase().trim().replaceAll(/\s+/gu, ' ');
}
