import type { Outcome } from '../../domain/invoice-state.ts';
import { OUTCOME_TEXTS_EN } from '../../texts/outcomes/en.ts';
const AT_WORK = 'The batch is still at work on these.';

/** English texts of the report. */
export const REPORT_TEXTS_EN = {
  ...OUTCOME_TEXTS_EN,
  title: '{file}: outcome report',
  application: 'application {name}',
  started: 'Started {started}.',
  revision: 'Report {n}, written {time}.',
  invoices: '{n} [invoice|invoices]',
  verdict: {
    title: 'Outcome',
    moneyOut: 'Went out, net without tax: {amounts}.',
    partOf: '{out} of {all}',
    row: 'Row {n}: ',
    refusedNext: 'What to do next: correct the file and drop it again.',
    corrections: 'Corrections file:',
    correctionsHold: 'holds every row that the back office can correct, with the reason at its end.',
    misfit: 'Alert: the service profile does not fit the service.',
  },
  doers: {
    'back-office': 'To do for the back office',
    operator: 'To do for an operator of Lote',
    lote: 'Nothing to do: Lote goes on by itself',
  },
  next: {
    invalid: 'Correct these rows in the corrections file and drop that file.',
    rejected: 'Correct these invoices in the corrections file and drop that file.',
    failed:
      'If the content is wrong, correct it in the corrections file and drop that file. If it is right, an operator can retry the batch.',
    conflict: 'Decide which content is right. A new invoice needs a new reference.',
    held: 'Remove the cause named under "Why", then run the file again or retry the batch. Where merchant details are missing, the back office adds them in the corrections file.',
    unknown:
      'Do not send these in another file. While the service remembers the key, Lote asks again by itself; an operator can hurry it with reconcile. Afterwards, and where "Why" says key-known-with-other-bytes or leaves it to an operator, ask the service what became of each one, then retry it by its reference.',
    unsettled: 'Do not send these in another file. Lote keeps asking and rewrites this report.',
    staged: AT_WORK,
    sending: AT_WORK,
    accepted: AT_WORK,
  } as Partial<Record<Outcome, string>>,
  rowList: {
    none: 'no rows',
    named: '[row|rows] {rows}',
  },
  file: {
    title: 'The file',
    counts: '{rows} rows: {taken} in {invoices} invoices, {left} without an invoice.',
  },
  changes: {
    label: 'Changes',
    title: 'Changed since report {n}',
    none: 'No invoice changed its state.',
    inDoubt: 'Invoices that went out and are in doubt: {n}; before, {before}.',
    was: 'Was',
    is: 'Is',
  },
  list: {
    notOut: 'Invoices not confirmed as issued',
    inDoubt: 'In doubt, to be looked up at the service',
    out: 'Invoices that went out',
    rest: 'Only the first {n} of {of} stand on this page, so that it opens at once. All of them are in report.csv and report.json beside it, and in the console.',
  },
  notes: {
    'webhooks-unreadable':
      'Alert: {n} [webhook|webhooks] with a right signature could not be read since this batch began. The ledger keeps the bytes; compare them with the service profile (event). Final answers came by asking (GET).',
    'webhooks-of-unknown-invoices':
      'Alert: {n} [webhook|webhooks] since this batch began told of invoices that this ledger does not know: of another application, or of a POST whose answer was lost. The ledger keeps them, and applies them when it meets their invoice.',
    'no-corrections':
      'There is no corrections file: the original file could not be read again as it was. Correct the rows in the original file and drop that one.',
    'corrections-unfit':
      'There is no corrections file, because no workbook can hold it: {cause}. Correct the rows in the original file and drop that one; what was issued is not sent again.',
    'no-webhook': 'Final answers came by asking (GET) alone, because {cause}.',
  },
};

/** Every text of report.html. Names of states stay untranslated: ledger, report and console use the same words. */
export type ReportTexts = typeof REPORT_TEXTS_EN;
