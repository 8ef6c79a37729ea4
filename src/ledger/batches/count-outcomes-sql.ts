/** batchId: the batch's balance. Sums are exact: numeric has no rounding. */
export const COUNT_OUTCOMES = `/* count-outcomes */
SELECT coalesce(bi.outcome, i.state) AS outcome, bi.currency, count(*) AS invoices,
  trim_scale(coalesce(sum(bi.net::numeric), 0))::text AS net,
  count(*) FILTER (WHERE bi.net IS NULL) AS without_amount
FROM batch_invoice bi LEFT JOIN invoice i ON i.invoice_id = bi.invoice_id
WHERE bi.batch_id = $1
GROUP BY 1, 2
ORDER BY 1, 2`;

export interface OutcomeRow {
  readonly outcome: string;
  readonly currency: string | null;
  readonly invoices: number;
  readonly net: string;
  readonly without_amount: number;
}
