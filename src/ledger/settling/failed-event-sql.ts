import { isOfApplication } from './same-application-sql.ts';

/**
 * The newest `failed` event about the document of a row of this table, for a LATERAL join: seq, reason_code,
 * reason_message. `invoice` is the alias that has the application.
 */
export function failedEventOf(table: string, invoice: string = table): string {
  return `SELECT d.seq, d.reason_code, d.reason_message FROM delivery d
  WHERE d.service_id = ${table}.service_id AND d.verdict = 'failed' AND ${isOfApplication(`${invoice}.application`)}
  ORDER BY d.seq DESC LIMIT 1`;
}
