import { skeletonOf } from '../../../domain/look-alike.ts';
import type { Queries } from '../database.ts';
import { lookAlikeKey } from '../../staging/look-alike-key.ts';
import { column } from '../array-literal.ts';

/** Rows filled at a time. */
const PORTION = 1_000;

type Step = string | ((queries: Queries) => Promise<void>);

interface OldInvoice {
  readonly invoice_id: number;
  readonly application: string;
  readonly merchant_nif: string;
  readonly invoice_ref: string;
}

/** Only a reference that is not its own skeleton has a key here; one that is, is found by its identity. So the index stays small. */
export const LOOK_ALIKES: readonly Step[] = [
  'ALTER TABLE invoice ADD COLUMN look_alike text',
  'CREATE INDEX invoice_look_alike ON invoice (look_alike) WHERE look_alike IS NOT NULL',
  (queries) => fillLookAlikes(queries, '^[!-~]+( [!-~]+)*$', '!~'),
];

/** Gives the invoices whose reference matches a pattern (`~`), or does not (`!~`), the key of what they look like. */
export async function fillLookAlikes(queries: Queries, pattern: string, operator: '~' | '!~' = '~'): Promise<void> {
  for (let after = 0; ;) {
    const rows = await queries.query<OldInvoice>(
      `SELECT invoice_id, application, merchant_nif, invoice_ref FROM invoice
       WHERE invoice_id > $1 AND invoice_ref ${operator} $3 ORDER BY invoice_id LIMIT $2`,
      [after, PORTION, pattern],
    );
    const odd = rows.filter(({ invoice_ref }) => skeletonOf(invoice_ref) !== invoice_ref);
    if (odd.length > 0)
      await queries.query(
        `UPDATE invoice i SET look_alike = u.look_alike FROM unnest($1::bigint[], $2::text[]) AS u(invoice_id, look_alike)
         WHERE i.invoice_id = u.invoice_id`,
        [
          column(odd, (row) => row.invoice_id),
          column(odd, (row) =>
            lookAlikeKey({ application: row.application, merchantNif: row.merchant_nif, ref: row.invoice_ref }),
          ),
        ],
      );
    const last = rows.at(-1);
    if (last === undefined || rows.length < PORTION) return;
    after = last.invoice_id;
  }
}
