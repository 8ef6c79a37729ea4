import type { OperatorTexts } from '../operator-texts.ts';

/** English texts of the forms with which an operator acts. */
export const OPERATOR_TEXTS_EN: OperatorTexts = {
  retry: {
    title: 'Send again',
    note: 'Failed and refused invoices go under a new key, held ones as they are. What went out is never sent again.',
    repeatNote:
      'No answer came. The same request goes again under the same key: the service then says what became of it.',
    states: 'Invoices that are',
    button: 'Send again',
    risk: 'I accept that this invoice may be issued twice.',
    riskNote: 'Only where Lote cannot prove that the first request left nothing behind. It is kept in the audit.',
    started: 'They are being taken up. This page follows.',
    joined: 'The batch is running: it takes them up when its pages have ended.',
    moved: { one: 'Sent again: {n} invoice.', other: 'Sent again: {n} invoices.' },
    left: { one: '{n} invoice was left as it is:', other: '{n} invoices were left as they are:' },
    refusals: {
      'state-not-retryable': 'such a state is not sent again',
      'generations-spent': 'sent as often as the service profile allows (retry.maxGenerations)',
      'needs-accept-duplicate-risk': 'it could be issued twice, and nobody accepted that risk',
      'owned-by-running-batch': 'another batch that is running has it',
      'total-unconfirmed':
        'nobody has confirmed the unusual total of the file. Start or drop the file again, which asks about it, then confirm the total',
    },
  },
  reconcile: {
    title: 'Still no final word',
    note: 'This asks now, for everything that any batch left open and that may be asked again. Lote does the same by itself, the older an invoice is the more rarely, and repeats no request after the service may have forgotten its key. Where the reason leaves it to an operator, ask the service what became of it, then send it again by its reference.',
    button: 'Ask the service now',
    started: 'The service is being asked. Look again in a moment.',
    asked: 'Asked for {asked} documents, {settled} of them now have a final word.',
    repeated: 'Repeated {repeated} requests without an answer, {found} of them were found.',
    closed:
      'Batches without a run that were closed: {closed}. What they left unknown was not repeated: read their reports, then ask once more.',
    unanswered: 'The service does not answer; the rest waits for the next time.',
    profileFoundWrong:
      'The rest was not asked for, because the service profile was found to be wrong. Somebody must correct it and start Lote again.',
  },
  audit: {
    title: 'Done by hand',
    none: 'Nothing was done by hand.',
    note: 'Everything that somebody, or the retry policy, did to this batch. It stands in the report too, but for downloads.',
    who: 'Who',
    why: 'Why',
    examples: 'Among them',
    download: 'Download (CSV)',
    risk: 'The risk of a duplicate was accepted.',
    somebody: 'not known',
    moves: {
      release: 'released',
      regenerate: 'sent again under a new key',
      repeat: 'sent again under the same key',
      abandon: 'sent again under a new key, the first one unsettled',
    },
    actions: {
      retry: 'sent again',
      pause: 'paused',
      resume: 'went on',
      'cancel-remaining': 'nothing more sent',
      'settle-now': 'asked the service now',
      'confirm-total': 'confirmed the total',
      'save-profile': 'saved a service profile',
      start: 'started the file',
      reconcile: 'asked the service again',
      download: 'downloaded',
    },
  },
  total: {
    state: 'held: confirm the total',
    title: 'Confirm the total',
    sentence:
      'Nothing of this file is sent yet: its total differs by more than {factor} times from the last {n} files named {pattern}.',
    note: 'Compare it with the source of the file. If it is right, type the number of invoices: the batch is then sent at once. If it is wrong, send nothing more, below.',
    found: 'This file',
    usual: 'Usually',
    number: 'Number of invoices',
    button: 'The total is right: send',
    done: 'The total is confirmed. The batch is sent now.',
    compared: {
      title: 'Total of the file',
      usual: 'as usual: compared with the last {n} files named {pattern}',
      tooFew: 'not compared: {n} of {needed} earlier files named {pattern}',
      confirmed: 'unusual, and confirmed by an operator',
      declared: 'declared when the batch was started',
      corrections: 'not compared: it is a corrections file',
      off: 'not compared',
    },
  },
  people: {
    signedInAs: 'Signed in as',
    roles: { look: 'may look', operate: 'may operate' },
    roleMissing: 'You may look, not act.',
    roleMissingNote: 'Nothing was done. Whoever runs this installation decides who may operate.',
  },
  withoutTemporal:
    'This console only shows: without TEMPORAL_ADDRESS it cannot check and start files, pause batches or send again.',
};
