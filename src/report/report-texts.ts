import type { Outcome } from '../domain/invoice-state.ts';

interface StateText {
  /** Few words, for headings. */
  readonly label: string;
  /** What to do, and who does it. Empty when there is nothing to do. */
  readonly next: string;
}

/** What each state means to the person who dropped the file. */
export const STATE_TEXTS: Readonly<Record<Outcome, StateText>> = {
  issued: { label: 'Issued', next: '' },
  'already-issued': { label: 'Already issued by an earlier file; not sent again', next: '' },
  invalid: {
    label: 'Not sent: a row is wrong',
    next: 'Back office: correct these rows in the corrections file and drop that file.',
  },
  rejected: {
    label: 'Refused by the service',
    next: 'Back office: correct these invoices in the corrections file and drop that file.',
  },
  failed: {
    label: 'The service could not issue it',
    next: 'Back office: if the content is wrong, correct it in the corrections file and drop that file; if it is right, an operator can retry the batch.',
  },
  conflict: {
    label: 'Same merchant and reference, other content, known from an earlier file',
    next: 'Back office: decide which content is right. A new invoice needs a new reference.',
  },
  held: {
    label: 'Kept back, not sent',
    next: 'Operator: remove the cause named beside it, then run the file again or retry the batch. Where merchant details are missing, the back office adds them in the corrections file.',
  },
  unknown: {
    label: 'May have been issued; no answer came',
    next: 'Nobody: do not send these in another file. Lote asks again with the same key; an operator can hurry it with reconcile.',
  },
  unsettled: {
    label: 'Accepted by the service, no final word yet',
    next: 'Nobody: do not send these in another file. Lote keeps asking and rewrites this report.',
  },
  staged: { label: 'Waiting to be sent', next: 'Nobody: the batch is still at work on these.' },
  sending: { label: 'Being sent', next: 'Nobody: the batch is still at work on these.' },
  accepted: { label: 'Accepted, waiting for the final word', next: 'Nobody: the batch is still at work on these.' },
};

/** Order of the states wherever all of them are shown: what went out, what is under way, what needs somebody. */
export const STATE_ORDER: readonly Outcome[] = [
  'issued',
  'already-issued',
  'accepted',
  'sending',
  'staged',
  'unsettled',
  'unknown',
  'held',
  'failed',
  'rejected',
  'conflict',
  'invalid',
];
