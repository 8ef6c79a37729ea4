import type { Reason } from '../../domain/invoice.ts';

/** Two nullable columns, one reason. */
export function reasonOf(row: {
  readonly reason_code: string | null;
  readonly reason_message: string | null;
}): Reason | null {
  return row.reason_code === null ? null : { code: row.reason_code, message: row.reason_message ?? '' };
}
