import { MERCHANT_OF_INVOICE, column } from '../sql.ts';
import { type Database, onlyRow } from '../../database/database.ts';

/** A merchant that must exist at the service before Lote sends its invoices. If the file lacks a value, it is null and the merchant cannot be created. */
export interface MerchantNeed {
  readonly nif: string;
  readonly legalName: string | null;
  readonly email: string | null;
}

/** Parameter: batchId. Takes the first name and the first address that the file gives, in the file's order. */
const MERCHANTS_NEEDED = `/* merchants-needed */
SELECT i.merchant_nif AS nif,
  (array_agg(c.merchant_legal_name ORDER BY i.ordinal) FILTER (WHERE c.merchant_legal_name IS NOT NULL))[1] AS legal_name,
  (array_agg(c.merchant_email ORDER BY i.ordinal) FILTER (WHERE c.merchant_email IS NOT NULL))[1] AS email
FROM live_line i
JOIN LATERAL (
  SELECT * FROM invoice_content own WHERE own.invoice_id = i.invoice_id AND own.generation = i.generation OFFSET 0
) c ON true
WHERE i.batch_id = $1 AND i.owner_batch = $1 AND i.state = 'staged'
GROUP BY i.merchant_nif
ORDER BY min(i.ordinal)`;

const HAS_SENDABLE = `/* has-sendable */
SELECT EXISTS (
  SELECT FROM live_line i LEFT JOIN merchant m ON ${MERCHANT_OF_INVOICE}
  WHERE i.batch_id = $1 AND i.owner_batch = $1
    AND (i.state = 'sending' OR (i.state = 'staged' AND m.nif IS NOT NULL))
) AS found`;

/** The service has accepted an invoice of the merchant, so a different id may belong to another merchant. */
const IS_USED = `EXISTS (SELECT FROM batch_invoice bi
  JOIN LATERAL (SELECT * FROM invoice own WHERE own.invoice_id = bi.invoice_id OFFSET 0) i ON true
  WHERE bi.merchant_nif = merchant.nif AND i.application = merchant.application AND i.service_id IS NOT NULL OFFSET 0)`;

/** Parameters: application, arrays of nif and merchantId. A used id stays beside the one that is listed now. */
const SAVE_MERCHANTS = `/* save-merchants */
INSERT INTO merchant (application, nif, merchant_id, listed_id)
SELECT $1, u.nif, u.merchant_id, u.merchant_id FROM unnest($2::text[], $3::text[]) AS u(nif, merchant_id)
ORDER BY u.nif
ON CONFLICT (application, nif) DO UPDATE SET listed_id = excluded.listed_id,
  merchant_id = CASE WHEN ${IS_USED} THEN merchant.merchant_id ELSE excluded.merchant_id END
WHERE merchant.listed_id IS DISTINCT FROM excluded.listed_id`;

const UNLIST_MERCHANTS = `/* unlist-merchants */
UPDATE merchant SET listed_id = NULL WHERE application = $1 AND nif = ANY($2::text[])`;

const CHANGED_MERCHANTS = `/* changed-merchants */
SELECT nif FROM merchant
WHERE application = $1 AND nif = ANY($2::text[]) AND listed_id IS DISTINCT FROM merchant_id AND ${IS_USED}`;

/** Keeps the ids in the service's last merchant list, beside the ids under which the service accepted an application's invoices. */
export function createMerchants(database: Database) {
  return {
    /** Returns the merchants of owned `staged` invoices of the batch, with the first non-null details in file order. */
    merchantsNeeded: (batchId: string) => database.query<MerchantNeed>(MERCHANTS_NEEDED, [batchId]),

    /** Returns true if the batch owns an unsent invoice that can be sent: its merchant is known, or its bytes are frozen. */
    hasSendable: async (batchId: string): Promise<boolean> =>
      onlyRow(await database.query<{ found: boolean }>(HAS_SENDABLE, [batchId])).found,

    /**
     * Stores the ids in the list; null means that the list lacks the merchant. Returns the tax numbers whose id differs from the one under which the service
     * accepted their invoices. Lote makes no bytes for those invoices until an operator confirms the service (`confirmAccount`).
     */
    async saveMerchants(
      application: string,
      merchants: readonly { readonly nif: string; readonly merchantId: string | null }[],
    ): Promise<readonly string[]> {
      // The service's list may contain a merchant twice. The first entry counts, because one statement cannot write a row twice.
      const firsts = new Map<string, string | null>();
      for (const { nif, merchantId } of merchants) if (!firsts.has(nif)) firsts.set(nif, merchantId);
      if (firsts.size === 0) return [];
      const listed = [...firsts].filter((one): one is [string, string] => one[1] !== null);
      const nifs = column([...firsts], ([nif]) => nif);
      const gone = [...firsts].filter(([, merchantId]) => merchantId === null);
      await database.query(SAVE_MERCHANTS, [
        application,
        column(listed, ([nif]) => nif),
        column(listed, ([, merchantId]) => merchantId),
      ]);
      if (gone.length > 0) await database.query(UNLIST_MERCHANTS, [application, column(gone, ([nif]) => nif)]);
      const changed = await database.query<{ nif: string }>(CHANGED_MERCHANTS, [application, nifs]);
      return changed.map(({ nif }) => nif);
    },
  };
}
