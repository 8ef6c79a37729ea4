import { OUTCOME_TEXTS_EN } from '../outcomes/en.ts';
/** English words about nights. */
export const NIGHT_TEXTS_EN = {
  ...OUTCOME_TEXTS_EN,
  nights: {
    title: 'Nights',
    none: 'No night yet. Files in the input folder are taken at night after: lote nightly on',
    night: 'Night',
    files: 'Files',
    outcome: 'Outcome',
    issued: 'Issued',
    know: 'What to know',
    run: 'Run of',
    waitingFiles: 'Still waiting',
    unreadable: 'The summary of this night cannot be read.',
    unended: 'This night has not ended: {n} [file|files] so far.',
    allOut: 'Everything went out: {n} [file|files].',
    empty: 'No file was dropped.',
    open: '{n} of {of} files [needs|need] a person.',
    asOf: 'As it was when the run ended, {time}. The report of each batch, or its page in the console while it goes on, says how it is now.',
    asOfEach: 'Each line says how it was when the night ended.',
    verdicts: {
      issued: 'everything went out',
      attention: 'needs a person',
      refused: 'refused',
      failed: 'run failed',
    },
    waiting: {
      growing: 'It was still being written. The next night looks again.',
      empty: 'It has no content yet. The next night looks again.',
      'not-movable': 'The system did not let Lote move it: check who owns the file and the folder.',
      'other-ledger':
        'A nightly run of another Lote, with a ledger of its own, has claimed it in this folder. Give each ledger an input folder of its own; if that Lote is gone, move the file from in-progress back into the input folder.',
      'too-many': 'A night takes only so many files. The next night goes on.',
      unfinished: 'The night could not bring it to its end. It lies in in-progress; the next night goes on with it.',
      changed:
        'It was written to after it was read: what is new in it was not read, and is in no report. Drop it again: nothing is sent twice.',
    },
  },
  morning: {
    subject: 'Lote ({application}), night of {date}: {outcome}',
    wentOut: '{n} of {of} invoices went out.',
    wentOutBefore: '{n} of {of} invoices went out, {before} of them by an earlier file.',
    needs: 'What needs a person',
    more: '{n} more are on the page of the night.',
    page: 'The page of the night',
    channels: { email: 'Message by e-mail' },
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
    'run-failed': 'Its run ended without a result ({code}): {message}',
    'drop-again':
      'What it had sent is in the ledger. Drop the file again: it goes on where it stopped, and nothing is sent twice.',
    held: 'Held: nothing of it was sent. {difference}',
    paused:
      'An operator has paused it, and the night did not wait: nothing more of it is sent until a person resumes it, on the page of the batch in the console or in the Temporal UI. It then goes on by itself, and its report says what became of it.',
    'confirm-total':
      'If the total is right, confirm it: on the page of the batch in the console, or with {command}. The batch is then sent at once. If it is wrong, cancel the batch.',
    refused: 'Refused: nothing of it was sent. The report says why. Correct the file and drop it again.',
    stopped: 'Stopped on {time}: {what}, by {who} ({why}).',
    'person-continues': 'No night and no reconciliation sends more of it. A person continues it with {command}.',
    stops: {
      paused: 'paused',
      cancelled: 'cancelled',
      terminated: 'its run was terminated in Temporal',
      deleted: 'its run was deleted in Temporal',
      held: 'held by its start',
    },
    unnamed: 'an unnamed operator',
    noReason: 'no reason given',
    'read-report': 'The report says of each what to do next.',
    'use-corrections':
      'Correct the rows in the corrections file and drop that file; the report says why each of them is not confirmed as issued.',
    'events-of-unknown-invoices':
      '{n} signed [event|events] told of [a document|documents] that no invoice has: [it|they] may be [that|those] of [an invoice|invoices] without an answer, or of [one that was refused|refused ones]. Look for [it|them] at the service before you send [that invoice|those invoices] again.',
  },
  nightFile: {
    title: 'Night of {date}',
    counts:
      '{issued} went out, {attention} that need a person, {refused} refused, {failed} runs failed, {waiting} still waiting. {notIssued} of {invoices} invoices are not confirmed as issued.',
    unfinishedTimes:
      'Started {started}, not ended. If it was interrupted, the next night goes on with what it left; while it still runs, no other night begins.',
    noBatch: 'none',
    report: 'Report',
    corrections: 'Corrections',
  },
};

/** Words about nights that the console, the night's page, its message and the note beside a file share. */
export type NightTexts = typeof NIGHT_TEXTS_EN;
