import type { MerchantLedger } from '../../domain/ports/ledger/merchant-ledger.ts';
import { INVOICE_OF_LINE } from '../batches/page-of-sql.ts';
import { column } from '../database/array-literal.ts';
import type { Database } from '../database/database.ts';

/** batchId, who reads. Names and addresses: the first that the file gives, in its own order. */
const MERCHANTS_NEEDED = `/* merchants-needed */
SELECT i.merchant_nif AS nif,
  (array_agg(c.merchant_legal_name ORDER BY bi.ordinal) FILTER (WHERE c.merchant_legal_name IS NOT NULL))[1] AS legal_name,
  (array_agg(c.merchant_email ORDER BY bi.ordinal) FILTER (WHERE c.merchant_email IS NOT NULL))[1] AS email
FROM batch_invoice bi
JOIN ${INVOICE_OF_LINE}
JOIN LATERAL (
  SELECT * FROM invoice_content own WHERE own.invoice_id = i.invoice_id AND own.generation = i.generation OFFSET 0
) c ON true
LEFT JOIN merchant m ON m.application = i.application AND m.nif = i.merchant_nif AND m.read_by IS NOT DISTINCT FROM $2
WHERE bi.batch_id = $1 AND bi.outcome IS NULL AND i.owner_batch = $1 AND i.state = 'staged' AND m.nif IS NULL
GROUP BY i.merchant_nif
ORDER BY min(bi.ordinal)`;

/** batchId, who reads. */
const HAS_SENDABLE = `/* has-sendable */
SELECT EXISTS (
  SELECT FROM batch_invoice bi
  JOIN ${INVOICE_OF_LINE}
  LEFT JOIN merchant m ON m.application = i.application AND m.nif = i.merchant_nif AND m.read_by IS NOT DISTINCT FROM $2
  WHERE bi.batch_id = $1 AND bi.outcome IS NULL AND i.owner_batch = $1
    AND (i.state = 'sending' OR (i.state = 'staged' AND m.nif IS NOT NULL))
) AS found`;

interface MerchantNeedRow {
  readonly nif: string;
  readonly legal_name: string | null;
  readonly email: string | null;
}

/** application, arrays: nif, merchantId; who has read them. */
const SAVE_MERCHANTS = `/* save-merchants */
INSERT INTO merchant (application, nif, merchant_id, read_by)
SELECT $1, u.nif, u.merchant_id, $4::text FROM unnest($2::text[], $3::text[]) AS u(nif, merchant_id)
ORDER BY u.nif
ON CONFLICT (application, nif) DO UPDATE SET merchant_id = excluded.merchant_id, read_by = excluded.read_by
WHERE merchant.merchant_id <> excluded.merchant_id OR merchant.read_by IS DISTINCT FROM excluded.read_by`;

/** The service's ids of merchants. */
export function createMerchants(database: Database): MerchantLedger {
  return {
    async merchantsNeeded(batchId, readBy = null) {
      const rows = await database.query<MerchantNeedRow>(MERCHANTS_NEEDED, [batchId, readBy]);
      return rows.map((row) => ({ nif: row.nif, legalName: row.legal_name, email: row.email }));
    },

    async hasSendable(batchId, readBy = null) {
      const [row] = await database.query<{ found: boolean }>(HAS_SENDABLE, [batchId, readBy]);
      return row?.found === true;
    },

    async saveMerchants(application, merchants, readBy = null) {
      // The service's list may hold a merchant twice; the first is taken, and one statement cannot write a row twice.
      const firsts = new Map<string, string>();
      for (const { nif, merchantId } of merchants) if (!firsts.has(nif)) firsts.set(nif, merchantId);
      if (firsts.size === 0) return;
      const rows = [...firsts];
      await database.query(SAVE_MERCHANTS, [
        application,
        column(rows, ([nif]) => nif),
        column(rows, ([, merchantId]) => merchantId),
        readBy,
      ]);
    },
  };
}
