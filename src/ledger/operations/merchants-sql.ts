/** batchId. Names and addresses: the first that the file gives, in its own order. */
export const MERCHANTS_NEEDED = `/* merchants-needed */
SELECT i.merchant_nif AS nif,
  (array_agg(c.merchant_legal_name ORDER BY bi.ordinal) FILTER (WHERE c.merchant_legal_name IS NOT NULL))[1] AS legal_name,
  (array_agg(c.merchant_email ORDER BY bi.ordinal) FILTER (WHERE c.merchant_email IS NOT NULL))[1] AS email
FROM batch_invoice bi
JOIN invoice i ON i.invoice_id = bi.invoice_id
JOIN invoice_content c ON c.invoice_id = i.invoice_id AND c.generation = i.generation
LEFT JOIN merchant m ON m.application = i.application AND m.nif = i.merchant_nif
WHERE bi.batch_id = $1 AND bi.outcome IS NULL AND i.owner_batch = $1 AND i.state = 'staged' AND m.nif IS NULL
GROUP BY i.merchant_nif
ORDER BY min(bi.ordinal)`;

export interface MerchantNeedRow {
  readonly nif: string;
  readonly legal_name: string | null;
  readonly email: string | null;
}

/** application, then arrays: nif, merchantId. */
export const SAVE_MERCHANTS = `/* save-merchants */
INSERT INTO merchant (application, nif, merchant_id)
SELECT $1, u.nif, u.merchant_id FROM unnest($2::text[], $3::text[]) AS u(nif, merchant_id)
ORDER BY u.nif
ON CONFLICT (application, nif) DO UPDATE SET merchant_id = excluded.merchant_id
WHERE merchant.merchant_id <> excluded.merchant_id`;
