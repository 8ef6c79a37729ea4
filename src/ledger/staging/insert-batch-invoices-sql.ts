/**
 * batchId, then arrays: ordinal, invoiceId, outcome, nif, ref, currency, net, rows (as array literals), findings (JSON), reason code,
 * reason message. A portion staged twice changes nothing.
 */
export const INSERT_BATCH_INVOICES = `/* insert-batch-invoices */
INSERT INTO batch_invoice (batch_id, ordinal, invoice_id, outcome, merchant_nif, invoice_ref, currency, net, file_rows, findings,
  reason_code, reason_message)
SELECT $1, u.ordinal, u.invoice_id, u.outcome, u.merchant_nif, u.invoice_ref, u.currency, u.net, u.file_rows::integer[], u.findings,
  u.reason_code, u.reason_message
FROM unnest($2::integer[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[],
  $12::text[]) AS u(ordinal, invoice_id, outcome, merchant_nif, invoice_ref, currency, net, file_rows, findings, reason_code, reason_message)
ON CONFLICT (batch_id, ordinal) DO NOTHING`;
