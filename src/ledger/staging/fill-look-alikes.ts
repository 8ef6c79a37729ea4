import { skeletonOf } from '../../domain/look-alike.ts';
import { column } from '../database/array-literal.ts';
import type { Queries } from '../database/database.ts';
import { lookAlikeKey } from './look-alike-key.ts';

/** Rows filled at a time. */
const PORTION = 1_000;

/** An invoice, as its look-alike key is made of it. */
interface Spelling {
  readonly invoice_id: number;
  readonly application: string;
  readonly merchant_nif: string;
  readonly invoice_ref: string;
}

/** In the words of the index `invoice_unkeyed`, which holds nothing else: each of these has a key, and so is found once. */
const UNKEYED_SPELLINGS = `/* unkeyed-spellings */
SELECT invoice_id, application, merchant_nif, invoice_ref FROM invoice
WHERE look_alike IS NULL AND invoice_ref ~ '^0+[0-9]+$|^[0-9]{1,5}[Ee][0-9]$' ORDER BY invoice_id LIMIT ${PORTION}`;

/** Arrays: invoiceId, look-alike key. */
const KEY_SPELLINGS = `/* key-spellings */
UPDATE invoice i SET look_alike = u.look_alike FROM unnest($1::bigint[], $2::text[]) AS u(invoice_id, look_alike)
WHERE i.invoice_id = u.invoice_id`;

/** Gives the invoices whose reference matches a pattern (`~`), or does not (`!~`), the key of what they look like. */
export async function fillLookAlikes(queries: Queries, pattern: string, operator: '~' | '!~' = '~'): Promise<void> {
  for (let after = 0; ;) {
    const rows = await queries.query<Spelling>(
      `SELECT invoice_id, application, merchant_nif, invoice_ref FROM invoice
       WHERE invoice_id > $1 AND invoice_ref ${operator} $3 ORDER BY invoice_id LIMIT $2`,
      [after, PORTION, pattern],
    );
    await keySpellings(queries, rows);
    const last = rows.at(-1);
    if (last === undefined || rows.length < PORTION) return;
    after = last.invoice_id;
  }
}

/**
 * Does the same for references that a spreadsheet changes, and that have no key: a process of an earlier version, which goes on beside newer ones during an upgrade,
 * gives them none.
 */
export async function fillUnkeyed(queries: Queries): Promise<void> {
  for (;;) {
    const rows = await queries.query<Spelling>(UNKEYED_SPELLINGS);
    await keySpellings(queries, rows);
    if (rows.length < PORTION) return;
  }
}

async function keySpellings(queries: Queries, rows: readonly Spelling[]): Promise<void> {
  const odd = rows.filter(({ invoice_ref }) => skeletonOf(invoice_ref) !== invoice_ref);
  if (odd.length === 0) return;
  await queries.query(KEY_SPELLINGS, [
    column(odd, (row) => row.invoice_id),
    column(odd, (row) =>
      lookAlikeKey({ application: row.application, merchantNif: row.merchant_nif, ref: row.invoice_ref }),
    ),
  ]);
}
