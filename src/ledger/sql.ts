import { CLOCKS_DIFFER_MS } from '../domain/time/instants.ts';
import type { Reason } from '../domain/invoice.ts';

/**
 * Writes an array parameter as text, such as `{1,"a \"b\"",NULL}`, the same for both drivers. NUL, which PostgreSQL
 * text cannot hold, becomes U+FFFD; ingest refuses it in every value that is sent.
 */
export function arrayLiteral(values: readonly (string | number | boolean | null)[]): string {
  return column(values, (value) => value);
}

/** Writes one column of a set statement as an array literal. */
export function column<Item>(items: readonly Item[], pick: (item: Item) => string | number | boolean | null): string {
  let literal = '';
  for (const item of items) literal += literal === '' ? element(pick(item)) : `,${element(pick(item))}`;
  return `{${literal}}`;
}

function element(value: string | number | boolean | null): string {
  if (value === null) return 'NULL';
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'number' && !Number.isSafeInteger(value)) {
    throw new RangeError(`Writing to the ledger: expected a whole number, found ${value}`);
  }
  return String(value);
}

/** Characters that JSON and an array literal write differently: control characters, some of which JSON names by a letter, and lone surrogates. */
const UNLIKE_JSON = /[^ -\uD7FF\uE000-\uFFFF]/;

/** Without those characters, JSON and an array literal quote text in the same way, and V8 writes JSON several times faster than it replaces characters. */
function quoted(text: string): string {
  if (!UNLIKE_JSON.test(text)) return JSON.stringify(text);
  return `"${storableText(text).replace(/["\\]/g, '\\$&')}"`;
}

/** Writes items for `json_populate_recordset(NULL::table, $n::text::json)`: shorter than arrays, and slower. A reason fills two columns. */
export function recordset(items: readonly object[]): string {
  return JSON.stringify(items.map((item) => Object.fromEntries(Object.entries(item).flatMap(columnsOf))));
}

function columnsOf([name, value]: [string, unknown]): readonly (readonly [string, unknown])[] {
  if (name === 'reason') {
    const reason = value as Reason | null;
    return columnsOf(['reasonCode', reason?.code]).concat(columnsOf(['reasonMessage', reason?.message]));
  }
  const column = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return [[column, typeof value === 'string' ? storableText(value) : value]];
}

/** Replaces NUL and lone surrogates, which PostgreSQL text cannot hold. */
function storableText(text: string): string {
  return UNLIKE_JSON.test(text) ? text.replaceAll('\u0000', '\uFFFD').replaceAll(/\p{Surrogate}/gu, '\uFFFD') : text;
}

/**
 * Returns SQL for the element of an array at the place that the row's bigint key has in `keys`, which must be ascending. After `key = ANY(keys)`, the
 * statement finds its rows by the index alone; a join goes through the index once for each pair of items (60 µs a row for 128 items).
 */
export function ofItem(array: string, key: string, keys: string = '$1::bigint[]'): string {
  return `(${array})[width_bucket(${key}, ${keys})]`;
}

/** SQL condition: the key is in the array. It is false for a row that would get another row's values because the keys are not ascending. */
export function isItem(key: string): string {
  return `${ofItem('$1::bigint[]', key)} = ${key}`;
}

/** Writes states or codes for an SQL `IN`, such as `('staged', 'held')`. */
export function sqlList(words: readonly string[]): string {
  return `(${words.map((word) => `'${word}'`).join(', ')})`;
}

/** An `issued` event settles an invoice in one of these states. */
export const ISSUABLE_STATES = `('accepted', 'unsettled', 'failed')`;

/** A batch in one of these states sends nothing any more, so its unsent invoices may go to another batch. */
export const CLOSED_BATCH_STATES = `('finished', 'cancelled', 'refused')`;

/** SQL condition: the time `at` is ahead of `now` (both SQL expressions), as in `isAhead`. */
export function isAheadSql(at: string, now: string): string {
  return `(${at} > (${now})::bigint + ${CLOCKS_DIFFER_MS})`;
}

/** The database's clock in milliseconds, because the clocks of workers may differ. It advances within a transaction. */
export const CLOCK = 'extract(epoch FROM clock_timestamp())::double precision * 1000';

/** Returns SQL for the reason of a row of table `t` as JSON, which the driver parses. */
export function reasonJson(t: string): string {
  return `CASE WHEN ${t}.reason_code IS NOT NULL THEN json_build_object('code', ${t}.reason_code, 'message', coalesce(${t}.reason_message, '')) END`;
}

/** The batch's page size determines the page, so Lote computes it and never stores it. Needs `bi` and `b`. */
export const PAGE_OF = '((bi.ordinal - 1) / b.page_size + 1)';

const PAGE_SIZE = '(SELECT page_size FROM batch WHERE batch_id = $1)';

/**
 * SQL condition: the line is on the page of batch $1, as a range of batch_invoice's primary key. The page size is a
 * subquery: from a join the planner may make a filter on all lines of the batch.
 */
export function onPage(page: string, line = 'i'): string {
  return `${line}.ordinal BETWEEN (${page} - 1) * ${PAGE_SIZE} + 1 AND ${page} * ${PAGE_SIZE}`;
}

/** SQL condition: the line is on page $2 of batch $1. */
export function isOfPage(line = 'i'): string {
  return `${line}.batch_id = $1 AND ${onPage('$2::integer', line)}`;
}

/** JOIN condition for the merchant `m` of an invoice `i`. It finds none if the service lists another id than the one that was used. */
export const MERCHANT_OF_INVOICE =
  'm.application = i.application AND m.nif = i.merchant_nif AND m.listed_id = m.merchant_id';

/**
 * Returns SQL for the ids of invoices of batch $1 whose lines `i` are live and meet `condition`: an array that is computed once, for `= ANY`. In a
 * join, the planner would expect a page to have few rows and would read whole tables (measured on 20,000 invoices: 20 ms instead of 2).
 */
export function invoicesOfBatch(condition: string): string {
  return `ARRAY(SELECT i.invoice_id FROM live_line i WHERE i.batch_id = $1 AND ${condition})`;
}

/** The ids of all invoices on page $2 of batch $1 with a live line, without reading the invoices. */
export const PAGE_INVOICES = `ARRAY(SELECT i.invoice_id FROM batch_invoice i WHERE ${isOfPage()} AND i.outcome IS NULL)`;
