/** batchId, seqs, findings (JSON). */
export const INSERT_FINDINGS = `/* insert-findings */
INSERT INTO finding (batch_id, seq, finding)
SELECT $1, u.seq, u.finding FROM unnest($2::integer[], $3::text[]) AS u(seq, finding)`;

/** batchId. */
export const LIST_FINDINGS = `/* list-findings */
SELECT finding FROM finding WHERE batch_id = $1 ORDER BY seq`;
