/** Arrays: invoiceId, generation, content (JSON), merchant's legal name, merchant's e-mail. */
export const WRITE_CONTENTS = `/* write-contents */
INSERT INTO invoice_content (invoice_id, generation, content, merchant_legal_name, merchant_email)
SELECT * FROM unnest($1::bigint[], $2::integer[], $3::text[], $4::text[], $5::text[])
ON CONFLICT (invoice_id, generation) DO UPDATE SET content = excluded.content,
  merchant_legal_name = excluded.merchant_legal_name, merchant_email = excluded.merchant_email`;
