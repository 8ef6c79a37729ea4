import type { BatchInvoice } from '../../domain/ports/ledger/batch-record.ts';
import { reportInvoice } from '../report-invoice.ts';
import { REPORT_SCHEMA, type ReportModel } from '../report-model.ts';
import { englishNote } from '../texts/report-format.ts';

/** report.json: one JSON document, one invoice a line, so that it can be read by eye and by line tools too. It is the same in each language. */
export async function* jsonReport(
  model: ReportModel,
  invoices: AsyncIterable<readonly BatchInvoice[]>,
): AsyncGenerator<string> {
  yield `{\n  "schema": ${JSON.stringify(REPORT_SCHEMA)},\n`;
  yield member('batch', model.batch);
  yield member('counts', model.counts);
  yield member('totals', model.totals);
  yield member('reasons', model.reasons);
  yield member('notes', model.notes.map(englishNote));
  yield member('misfits', model.misfits);
  yield member('changes', model.history.changes);
  yield member('audit', model.history.audit);
  yield '  "invoices": [';
  let separator = '\n    ';
  for await (const portion of invoices) {
    let text = '';
    for (const invoice of portion) {
      text += separator + JSON.stringify(reportInvoice(invoice));
      separator = ',\n    ';
    }
    yield text;
  }
  yield separator.startsWith(',') ? '\n  ],\n' : '],\n';
  yield `  "fileFindings": ${indented(model.fileFindings)}\n}\n`;
}

function member(name: string, value: unknown): string {
  return `  ${JSON.stringify(name)}: ${indented(value)},\n`;
}

function indented(value: unknown): string {
  return JSON.stringify(value, null, 2).replaceAll('\n', '\n  ');
}
