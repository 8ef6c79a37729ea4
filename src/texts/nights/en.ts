import type { NightTexts } from './night-texts.ts';

/** English words about nights. */
export const NIGHT_TEXTS_EN: NightTexts = {
  nights: {
    title: 'Nights',
    none: 'No night yet. Files in the input folder are taken at night after: lote nightly on',
    choose: 'Each application has nights of its own. Choose one above.',
    night: 'Night',
    files: 'Files',
    outcome: 'Outcome',
    issued: 'Issued',
    lies: 'lies in',
    know: 'What to know',
    run: 'Run of',
    unfinished:
      'It has not ended. If it was interrupted, the next night goes on with what it left; while it still runs, no other night begins.',
    waitingFiles: 'Still waiting',
    unreadable: 'The summary of this night cannot be read.',
    repeated: 'The same content had come before.',
    notOut: {
      one: '{n} of {of} invoices is not confirmed as issued.',
      other: '{n} of {of} invoices are not confirmed as issued.',
    },
    nothingSent: 'Nothing of it was sent. The report says why.',
    note: 'Note beside the file',
    waitsFor: {
      'total-unusual': 'Held before anything was sent: its total is unusual. Open the batch to confirm or cancel it.',
      resume:
        'Paused by an operator: nothing more of it is sent, and the night did not wait for it. Open the batch to resume or cancel it.',
    },
    unended: {
      one: 'This night has not ended: {n} file so far.',
      other: 'This night has not ended: {n} files so far.',
    },
    allOut: { one: 'Everything went out: {n} file.', other: 'Everything went out: {n} files.' },
    empty: 'No file was dropped.',
    open: { one: '{n} of {of} files needs somebody.', other: '{n} of {of} files need somebody.' },
    asOf: 'As it was when the run ended, {time}. The report of each batch, or its page in the console while it goes on, says how it is now.',
    asOfEach: 'Each line says how it was when the night ended.',
    now: 'Now: {state}.',
    verdicts: {
      issued: 'everything went out',
      attention: 'needs somebody',
      refused: 'refused',
      failed: 'run failed',
    },
    waiting: {
      growing: 'It was still being written. The next night looks again.',
      empty: 'It has no content yet. The next night looks again.',
      'no-marker': 'Its .done marker is missing or older than the file.',
      'not-movable': 'The system did not let Lote move it: check who owns the file and the folder.',
      'other-ledger':
        'A nightly run of another Lote, with a ledger of its own, has claimed it in this folder. Give each ledger an input folder of its own; if that Lote is gone, move the file from in-progress back into the input folder.',
      'too-many': 'A night takes only so many files. The next night goes on.',
      unfinished: 'The night could not bring it to its end. It lies in in-progress; the next night goes on with it.',
    },
  },
  morning: {
    subject: 'Lote ({application}), night of {date}: {outcome}',
    wentOut: { one: '{n} of {of} invoices went out.', other: '{n} of {of} invoices went out.' },
    wentOutBefore: {
      one: '{n} of {of} invoices went out, {before} of them by an earlier file.',
      other: '{n} of {of} invoices went out, {before} of them by an earlier file.',
    },
    needs: 'What needs somebody',
    more: '{n} more are on the page of the night.',
    page: 'The page of the night',
    toDo: {
      attention: 'Read the report. Correct the rows in the corrections file, and drop that file.',
      refused: 'Nothing of it was sent. Read the report, correct the file, and drop it again.',
      failed: 'Drop the file again: it goes on where it stopped, and nothing is sent twice.',
    },
    readReport: 'Read the report: it says what to do next.',
    channels: { email: 'Message by e-mail', webhook: 'Message by webhook' },
    states: {
      sent: 'sent {time}.',
      unsent: 'not sent yet, last tried {time}.',
      refused: 'not sent, and not tried again since {time}.',
    },
  },
  remarks: {
    resumed: 'An earlier night had claimed it and was interrupted; this night has taken it over.',
    'dropped-before':
      'The same bytes were dropped before, on {time} as {file}: it is the same batch, and nothing that was sent is sent again.',
    changed:
      'It was written to after it was read: what is new in it was not read, and is in no report. Drop it again: nothing is sent twice.',
    'run-failed': 'Its run ended without a result ({code}): {message}',
    'drop-again':
      'What it had sent is in the ledger. Drop the file again: it goes on where it stopped, and nothing is sent twice.',
    held: 'Held: nothing of it was sent. {difference}',
    paused:
      'An operator has paused it, and the night did not wait: nothing more of it is sent until somebody resumes it, on the page of the batch in the console or in the Temporal UI. It then goes on by itself, and its report says what became of it.',
    'confirm-total':
      'If the total is right, confirm it: on the page of the batch in the console, or with {command}. The batch is then sent at once. If it is wrong, cancel the batch.',
    refused: 'Refused: nothing of it was sent. The report says why. Correct the file and drop it again.',
    cancelled: 'Cancelled by an operator.',
    'read-report': 'The report says of each what to do next.',
    'use-corrections':
      'Correct the rows in the corrections file and drop that file; the report says why each of them is not confirmed as issued.',
    'all-out': { one: 'Everything went out: {n} invoice.', other: 'Everything went out: {n} invoices.' },
    missing: {
      one: '{n} of {of} invoices is not confirmed as issued.',
      other: '{n} of {of} invoices are not confirmed as issued.',
    },
    'rows-without-invoice': { one: '{n} row belongs to no invoice.', other: '{n} rows belong to no invoice.' },
  },
  nightFile: {
    title: 'Night of {date}',
    counts:
      '{issued} went out, {attention} that need somebody, {refused} refused, {failed} runs failed, {waiting} still waiting. {notIssued} of {invoices} invoices are not confirmed as issued.',
    run: 'Run {night}',
    times: 'Started {started}, finished {finished}.',
    unfinishedTimes:
      'Started {started}, not ended. If it was interrupted, the next night goes on with what it left; while it still runs, no other night begins.',
    file: 'File',
    invoices: 'Invoices',
    why: 'Why',
    report: 'Report',
    corrections: 'Corrections',
    inDoubt: 'In doubt',
    batch: 'Batch',
    noBatch: 'none',
  },
};
