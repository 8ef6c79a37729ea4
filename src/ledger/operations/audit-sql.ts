/** actionId, batchId, at, who or null, what, why, accepted duplicate risk. A step that is repeated writes its action once. */
export const INSERT_AUDIT = `/* insert-audit */
INSERT INTO audit (action_id, batch_id, at, who, what, why, accepted_duplicate_risk) VALUES ($1, $2, $3, $4, $5, $6, $7::text::boolean)
ON CONFLICT (action_id) DO NOTHING`;

/** actionId, then arrays: invoiceId, generation before the move, ordinal, move, state before it. */
export const INSERT_AUDIT_INVOICES = `/* insert-audit-invoices */
INSERT INTO audit_invoice (action_id, invoice_id, generation, ordinal, move, from_state)
SELECT $1, u.invoice_id, u.generation, u.ordinal, u.move, u.from_state
FROM unnest($2::bigint[], $3::integer[], $4::integer[], $5::text[], $6::text[]) AS u(invoice_id, generation, ordinal, move, from_state)
ON CONFLICT DO NOTHING`;

export interface AuditRow {
  readonly action_id: string;
  readonly at: number;
  readonly who: string | null;
  readonly what: string;
  readonly why: string;
  readonly accepted_duplicate_risk: boolean;
  readonly invoices: number;
}

/** batchId. */
export const LIST_AUDIT = `/* list-audit */
SELECT a.action_id, a.at, a.who, a.what, a.why, a.accepted_duplicate_risk,
  (SELECT count(*) FROM audit_invoice ai WHERE ai.action_id = a.action_id) AS invoices
FROM audit a WHERE a.batch_id = $1 ORDER BY a.seq`;

export interface AuditInvoiceRow {
  readonly action_id: string;
  readonly ref: string;
  readonly file_rows: readonly number[];
  readonly move: string;
  readonly from_state: string;
  readonly generation: number;
}

/** batchId, how many of each action. */
export const LIST_AUDIT_INVOICES = `/* list-audit-invoices */
SELECT ranked.action_id, bi.invoice_ref AS ref, bi.file_rows, ranked.move, ranked.from_state, ranked.generation
FROM (
  SELECT ai.*, row_number() OVER (PARTITION BY ai.action_id ORDER BY ai.ordinal, ai.generation) AS place
  FROM audit_invoice ai JOIN audit a ON a.action_id = ai.action_id
  WHERE a.batch_id = $1
) ranked
JOIN batch_invoice bi ON bi.batch_id = $1 AND bi.ordinal = ranked.ordinal
WHERE ranked.place <= $2
ORDER BY ranked.action_id, ranked.place`;
