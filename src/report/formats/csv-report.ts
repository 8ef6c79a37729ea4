import type { BatchInvoice } from '../../domain/ports/ledger/batch-record.ts';
import { EXCEL_CSV_START, excelCsvRecord } from '../../domain/text/csv-record.ts';
import { reportInvoice } from '../report-invoice.ts';
import type { ReportInvoice } from '../report-model.ts';

const COLUMNS: readonly (readonly [name: string, cellOf: (invoice: ReportInvoice, mark: DecimalMark) => string])[] = [
  ['rows', ({ rows }) => rows.join(' ')],
  ['invoice_ref', ({ ref }) => ref],
  ['merchant_nif', ({ merchantNif }) => merchantNif],
  ['state', ({ state }) => state],
  ['reason_code', ({ reason }) => reason?.code ?? ''],
  ['reason', ({ reason }) => reason?.message ?? ''],
  ['currency', ({ currency }) => currency ?? ''],
  ['net', ({ net }, mark) => (net ?? '').replace('.', mark)],
  ['service_id', ({ serviceId }) => serviceId ?? ''],
  ['attempts', ({ attempts }) => String(attempts)],
  ['generation', ({ generation }) => String(generation)],
  ['sent_at', ({ sentAt }) => sentAt ?? ''],
  ['settled_at', ({ settledAt }) => settledAt ?? ''],
  ['flags', ({ flags }) => flags.join(' ')],
  ['idempotency_key', ({ idempotencyKey }) => idempotencyKey ?? ''],
];

/** What separates whole units from their fraction. */
export type DecimalMark = '.' | ',';

export interface CsvReportOptions {
  /** That of the file the batch came from: whoever wrote `12,50` has an Excel that reads `12,50`. */
  readonly decimalMark: DecimalMark;
}

/** report.csv: one invoice a record, for Excel in any language. */
export async function* csvReport(
  invoices: AsyncIterable<readonly BatchInvoice[]>,
  { decimalMark }: CsvReportOptions,
): AsyncGenerator<string> {
  yield EXCEL_CSV_START + excelCsvRecord(COLUMNS.map(([name]) => name));
  for await (const portion of invoices) {
    yield portion.map((invoice) => recordOf(invoice, decimalMark)).join('');
  }
}

function recordOf(invoice: BatchInvoice, mark: DecimalMark): string {
  const shown = reportInvoice(invoice);
  return excelCsvRecord(COLUMNS.map(([, cellOf]) => cellOf(shown, mark)));
}
