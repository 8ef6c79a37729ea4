/** The newest `failed` event about the document of a row of this table, for a LATERAL join: seq, reason_code, reason_message. */
export function failedEventOf(table: string): string {
  return `SELECT d.seq, d.reason_code, d.reason_message FROM delivery d
  WHERE d.service_id = ${table}.service_id AND d.verdict = 'failed'
  ORDER BY d.seq DESC LIMIT 1`;
}
