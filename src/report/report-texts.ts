import type { Outcome } from '../domain/invoice-state.ts';

/** Who has to do something about an invoice: the one who made the file, the one who runs Lote, or nobody but Lote itself. */
export type Doer = 'back-office' | 'operator' | 'lote';

interface StateText {
  /** Few words, for headings. */
  readonly label: string;
  /** What to do, and who does it; null when there is nothing to do. */
  readonly next: { readonly who: Doer; readonly what: string } | null;
}

/** In the order of their urgency: what waits for a person comes before what Lote does alone. */
export const DOERS: readonly (readonly [who: Doer, name: string])[] = [
  ['back-office', 'To do for the back office'],
  ['operator', 'To do for an operator of Lote'],
  ['lote', 'Nothing to do: Lote goes on by itself'],
];

const AT_WORK = { who: 'lote', what: 'The batch is still at work on these.' } as const;

/** What each state means to the person who dropped the file. */
export const STATE_TEXTS: Readonly<Record<Outcome, StateText>> = {
  issued: { label: 'Issued', next: null },
  'already-issued': { label: 'Already issued by an earlier file; not sent again', next: null },
  invalid: {
    label: 'Not sent: a row is wrong',
    next: { who: 'back-office', what: 'Correct these rows in the corrections file and drop that file.' },
  },
  rejected: {
    label: 'Refused by the service',
    next: { who: 'back-office', what: 'Correct these invoices in the corrections file and drop that file.' },
  },
  failed: {
    label: 'The service could not issue it',
    next: {
      who: 'back-office',
      what: 'If the content is wrong, correct it in the corrections file and drop that file. If it is right, an operator can retry the batch.',
    },
  },
  conflict: {
    label: 'Same merchant and reference, other content, known from an earlier file',
    next: { who: 'back-office', what: 'Decide which content is right. A new invoice needs a new reference.' },
  },
  held: {
    label: 'Kept back, not sent',
    next: {
      who: 'operator',
      what: 'Remove the cause named under "Why", then run the file again or retry the batch. Where merchant details are missing, the back office adds them in the corrections file.',
    },
  },
  unknown: {
    label: 'May have been issued; no answer came',
    next: {
      who: 'lote',
      what: 'Do not send these in another file. Lote asks again with the same key; an operator can hurry it with reconcile.',
    },
  },
  unsettled: {
    label: 'Accepted by the service, no final word yet',
    next: {
      who: 'lote',
      what: 'Do not send these in another file. Lote keeps asking and rewrites this report.',
    },
  },
  staged: { label: 'Waiting to be sent', next: AT_WORK },
  sending: { label: 'Being sent', next: AT_WORK },
  accepted: { label: 'Accepted, waiting for the final word', next: AT_WORK },
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
