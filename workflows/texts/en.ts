/** English words of the current details. */
export const DETAILS_TEXTS_EN = {
  phases: {
    reading: 'reading the file',
    attached: 'another run has this file: waiting for it',
    confirming: 'held before anything is sent: its total is unusual',
    merchants: 'making sure the merchants exist',
    sending: 'sending invoices',
    waiting: 'all sent: waiting for final answers',
    reporting: 'writing the report',
    done: 'done',
  },
  paused: 'paused by an operator ({phase})',
  batch: 'Batch',
  notRead: '(not read yet)',
  report: 'Report',
  reportLater: 'Report, when it is written',
  console: 'Console: this batch',
  now: 'Now',
  waitsFor: 'Waits for',
  nothing: 'nothing',
  whatToDo: 'What to do',
  unusualTotal: 'Unusual total',
  serviceProfile: 'Service profile',
  invoices: 'Invoices',
  pages: 'Pages',
  pagesOf: '{sent} sent, {done} done, of {pages}',
  pagesFailed: 'Pages failed',
  cancelled: 'Cancelled',
  nothingMore: 'nothing more is sent',
  balance: 'Balance',
  asOf: 'as of {time}',
  state: 'State',
  net: 'Net',
  ofFile: 'of the file',
  goneOut: 'gone out',
  next: {
    folder:
      'Make the folder that it names writable, or make room in it. Nothing is lost meanwhile: it is tried again by itself',
    ledger:
      'See to the database of the ledger. Nothing is lost meanwhile, and all of it goes on by itself when the database takes writes again',
    key: 'The service refuses the API key: set the right one and start Lote again. Nothing is lost meanwhile',
    profile:
      'The service profile does not fit the service: correct the file that SERVICE_PROFILE names and start Lote again. Nothing is lost meanwhile',
    forbidden: 'The service refuses this application: ask its support. It is tried again by itself',
    firstInvoices:
      'Nothing: the first invoices were accepted, and the rest goes when one of them is issued. Only with a new service profile can this take longer than half a minute',
    leftAlone: 'Nothing: the service asked to be left alone for a while',
    away: "Nothing: it goes on by itself when the service answers again, for as long as LOTE_OUTAGE_PATIENCE says. The console's health page shows what is wrong",
    lookAt: 'Look at the workflow {workflow}',
    confirm:
      'Compare the total with its source. If it is right, send the update confirmTotal with {input}; if not, cancelRemaining',
    why: 'why it is right',
    resume: 'Send the update resume to go on, or cancelRemaining',
    settleNow: 'Nothing. The update settleNow asks the service at once instead of waiting',
    problems: 'Nothing now. The query problems lists what is not confirmed as issued',
    nothing: 'Nothing',
    unreported:
      'Nothing: the report could not be written, and the next reconciliation writes it. The failure of this run says why',
    refused: 'Read in the report why the file was refused, correct it, and drop it again',
    allOut: 'Nothing: every invoice went out',
    totalsDiffer:
      'Every invoice of the file went out, but it does not have the control totals that were declared: compare it with its source',
    contradicted:
      '{n} [invoice|invoices] went out and may exist twice, or have failed: look [it|them] up at the service, and do not send [it|them] again',
    notOut:
      '{n} [invoice is|invoices are] not confirmed as issued. Correct the rows of the corrections file and drop that one; or send the same again: start the workflow retryInvoices with {input}',
  },
  night: {
    summary: 'Summary',
    night: 'Night',
    notOpened: '(not opened yet)',
    phases: { looking: 'looking', running: 'running', done: 'done' },
    filesDone: '{done} of {all} files done',
    running: 'its batch runs',
    more: '{n} more in the summary',
    file: 'File',
    outcome: 'Outcome',
  },
  reconciliation: {
    repeated: 'Unknown invoices repeated',
    found: 'of them found',
    asked: 'Documents asked for',
    settled: 'of them settled',
    stopped: 'Stopped batches, left alone',
    orphans: 'Batches without a run, closed',
    reports: 'Reports written again',
    unwritten: 'Reports that could not be written',
    service: 'The service',
    serviceAway: 'did not answer; the rest waits for the next time',
    profileFoundWrong: 'was not asked for the rest: its profile was found to be wrong',
  },
};

/** The words of "Current Details" in the Temporal UI. Names of states, updates and queries stay untranslated. */
export type DetailsTexts = typeof DETAILS_TEXTS_EN;
