import type { ReportTexts } from './report-texts.ts';

const AT_WORK = 'The batch is still at work on these.';

/** English texts of the report. */
export const REPORT_TEXTS_EN: ReportTexts = {
  title: '{file}: outcome report',
  batch: 'Batch',
  application: 'application {name}',
  started: 'Started {started}.',
  startedAndFinished: 'Started {started}, finished {finished}.',
  revision: 'Report {n}, written {time}.',
  batchStates: {
    refused: 'refused',
    running: 'running',
    paused: 'paused',
    cancelled: 'cancelled',
    finished: 'finished',
  },
  invoices: { one: '{n} invoice', other: '{n} invoices' },
  rows: { one: '{n} row', other: '{n} rows' },
  verdict: {
    title: 'Outcome',
    refused: 'The file was refused. Nothing was sent.',
    allOut: 'Everything went out: {invoices}, {rows}.',
    rowsLeft: 'All {invoices} went out, but some rows could not be taken for an invoice. See "The file" below.',
    totalsDiffer:
      'All {invoices} went out, but the file does not have the control totals that were declared for it. See "The file" below.',
    notAll: {
      one: 'Not everything is confirmed as issued: {n} of {invoices} is not.',
      other: 'Not everything is confirmed as issued: {n} of {invoices} are not.',
    },
    moneyOut: 'Went out, net without tax: {amounts}.',
    partOf: '{out} of {all}',
    row: 'Row {n}: ',
    refusedNext: 'What to do next: correct the file and drop it again.',
    corrections: 'Corrections file:',
    correctionsHold: 'holds every row that the back office can correct, with the reason at its end.',
    workbookHolds:
      'holds every row that the back office can correct, with each wrong cell marked, a note that says why, and the reason at its end.',
    misfit: 'Alert: the service profile does not fit the service.',
  },
  doers: {
    'back-office': 'To do for the back office',
    operator: 'To do for an operator of Lote',
    lote: 'Nothing to do: Lote goes on by itself',
  },
  states: {
    issued: { label: 'Issued', next: null },
    'already-issued': { label: 'Already issued by an earlier file; not sent again', next: null },
    invalid: {
      label: 'Not sent: a row is wrong',
      next: 'Correct these rows in the corrections file and drop that file.',
    },
    rejected: {
      label: 'Refused by the service',
      next: 'Correct these invoices in the corrections file and drop that file.',
    },
    failed: {
      label: 'The service could not issue it',
      next: 'If the content is wrong, correct it in the corrections file and drop that file. If it is right, an operator can retry the batch.',
    },
    conflict: {
      label: 'Same merchant and reference, other content, known from an earlier file',
      next: 'Decide which content is right. A new invoice needs a new reference.',
    },
    held: {
      label: 'Kept back, not sent',
      next: 'Remove the cause named under "Why", then run the file again or retry the batch. Where merchant details are missing, the back office adds them in the corrections file.',
    },
    unknown: {
      label: 'May have been issued; no answer came',
      next: 'Do not send these in another file. While the service remembers the key, Lote asks again by itself; an operator can hurry it with reconcile. Afterwards, and where "Why" says key-known-with-other-bytes or leaves it to an operator, ask the service what became of each one, then retry it by its reference.',
    },
    unsettled: {
      label: 'Accepted by the service, no final word yet',
      next: 'Do not send these in another file. Lote keeps asking and rewrites this report.',
    },
    staged: { label: 'Waiting to be sent', next: AT_WORK },
    sending: { label: 'Being sent', next: AT_WORK },
    accepted: { label: 'Accepted, waiting for the final word', next: AT_WORK },
  },
  reasons: {
    title: 'Why',
    label: 'Reasons',
    state: 'State',
    invoices: 'Invoices',
    reason: 'Reason',
    examples: 'For example',
  },
  rowList: {
    none: 'no rows',
    named: { one: 'row {rows}', other: 'rows {rows}' },
    more: '{rows} and {n} more',
  },
  totals: {
    title: 'Totals',
    note: 'Net without tax, exact, as in the file: the states add up to all invoices.',
    net: 'Net',
    noCurrency: 'no currency',
    all: 'all invoices',
    number: 'number of invoices',
    unreadable: 'of them without a readable amount',
  },
  file: {
    title: 'The file',
    counts: '{rows} rows: {taken} in {invoices} invoices, {left} without an invoice.',
    findings: 'Findings about the file',
    severity: 'Severity',
    severities: { error: 'error', warning: 'warning', info: 'info' },
    row: 'Row',
    column: 'Column',
    finding: 'Finding',
    more: '{n} more in report.json.',
  },
  proof: {
    title: 'How it was read:',
    names: { encoding: 'encoding', delimiter: 'delimiter', decimal: 'decimal', ignored: 'ignored' },
    inColumn: '{name} in {column}',
    yes: 'yes',
    how: { proved: 'proved', declared: 'declared' },
    witness: '(row {row}: {value})',
    marks: { comma: 'comma', semicolon: 'semicolon', point: 'point', tab: 'tab', bar: 'bar' },
  },
  settling: {
    title: 'How long settling took',
    sentence: 'Half of the invoices had their final word within {half} of their first POST, 95 of 100 within {most}.',
    table: 'As a table',
    within: 'Within',
    invoices: 'Invoices',
  },
  changes: {
    label: 'Changes',
    title: 'Changed since report {n}',
    none: 'No invoice changed its state.',
    inDoubt: 'Invoices that went out and are in doubt: {n}; before, {before}.',
    was: 'Was',
    is: 'Is',
    invoices: 'Invoices',
    examples: 'Among them',
  },
  audit: {
    label: 'Done by hand',
    title: 'What was done',
    when: 'When',
    who: 'Who',
    what: 'What',
    why: 'Why',
    nobody: 'not known',
    risk: 'The risk of a duplicate was accepted.',
    actions: {
      retry: 'sent again',
      pause: 'paused',
      resume: 'resumed',
      'cancel-remaining': 'the rest was cancelled',
      'settle-now': 'the service was asked at once',
      start: 'the file was started',
      reconcile: 'the service was asked again',
      'confirm-total': 'the total was confirmed',
    },
    moves: {
      release: 'released',
      regenerate: 'sent again under a new key',
      repeat: 'sent again under the same key',
      abandon: 'sent again under a new key, the first one unsettled',
    },
  },
  list: {
    notOut: 'Invoices not confirmed as issued',
    inDoubt: 'In doubt, to be looked up at the service',
    out: 'Invoices that went out',
    rest: 'Only the first {n} of {of} stand on this page, so that it opens at once. All of them are in',
    and: 'and',
    restPlaces: 'beside it, and in the console.',
    range: '{from} to {to}',
    reference: 'Reference',
    merchant: 'Merchant',
    net: 'Net',
    rows: 'Rows',
    serviceId: 'Service id',
  },
  notes: {
    'webhooks-unreadable': {
      one: 'Alert: {n} webhook with a right signature could not be read since this batch began. The ledger keeps the bytes; compare them with the service profile (event). Final answers came by asking (GET).',
      other:
        'Alert: {n} webhooks with a right signature could not be read since this batch began. The ledger keeps the bytes; compare them with the service profile (event). Final answers came by asking (GET).',
    },
    'webhooks-of-unknown-invoices': {
      one: 'Alert: {n} webhook since this batch began told of invoices that nobody here knows: of another application, or of a POST whose answer was lost. The ledger keeps them, and applies them when it meets their invoice.',
      other:
        'Alert: {n} webhooks since this batch began told of invoices that nobody here knows: of another application, or of a POST whose answer was lost. The ledger keeps them, and applies them when it meets their invoice.',
    },
    'no-corrections':
      'There is no corrections file: the original file could not be read again as it was. Correct the rows in the original file and drop that one.',
    'corrections-incomplete':
      'There is no corrections file: more rows are in no invoice than are listed here, and without them it could lack lines of invoices. Correct the rows in the original file and drop that one.',
    'corrections-as-csv':
      'The corrections file is CSV and no workbook: {cause}. Each row says at its end what is wrong with it; saved as a workbook it is read as well.',
    'no-webhook-url': 'No WEBHOOK_URL is set: no webhook was registered, and final answers came by asking (GET) alone.',
    'no-webhook-secret':
      'Alert: the service gave no secret when the webhook was registered, and WEBHOOK_SECRET is not set: every delivery was refused, and final answers came by asking (GET) alone.',
    'no-address-secret':
      'Alert: by the service profile (signature.kind) the address of the webhook holds the secret, and WEBHOOK_SECRET is not set: no webhook was registered, and final answers came by asking (GET) alone. Set WEBHOOK_SECRET.',
    'webhook-not-by-lote':
      'By the service profile (webhook.register) Lote registers no webhook, and WEBHOOK_SECRET is not set: final answers came by asking (GET) alone.',
    'webhook-registered-elsewhere':
      'Another process was registering the webhook when the batch began: until it had, final answers came by asking (GET) alone.',
    'registration-lost':
      'The answer to the registration of the webhook was lost ({code}): final answers came by asking (GET) alone, and the next batch registers it again.',
    'registration-refused':
      'The service did not register the webhook ({code}): final answers came by asking (GET) alone.',
    'registered-before': {
      one: 'Alert: the webhook was registered once before without its answer being kept (a crash, or a lost answer). The service may have the address more than once; deliveries signed with a secret that never came are refused (401), and the same news comes through the endpoint that is known. Remove the other one at the service.',
      other:
        'Alert: the webhook was registered {n} times before without its answer being kept (a crash, or a lost answer). The service may have the address more than once; deliveries signed with a secret that never came are refused (401), and the same news comes through the endpoint that is known. Remove the other one at the service.',
    },
  },
};
