/**
 * Every patch of the workflows, in the order in which they came. Names are only appended and never removed: each worker tells the others how many of
 * them it knows, and a release records the list.
 */
export const PATCHES = [
  'close-orphans',
  'go-on-in-a-new-run',
  'send-time-of-tries',
  'first-invoices-again',
  'read-why-the-profile-waits',
  'finish-a-failed-night',
  'look-for-the-last-word',
  'retry-names-its-fields',
  'merchants-after-a-pause',
  'starts-name-their-fields',
  'resume-ends-a-wait',
  'report-of-a-failed-run',
  'end-the-page-before',
  'pass-on-what-was-asked',
  'end-without-a-report',
  'find-the-application',
  'as-wide-as-the-rate',
  'window-of-each-round',
  'notify-a-run-that-was-reset',
  'go-on-without-a-paused-file',
  'close-an-unsent-message',
  'wait-for-what-is-sent',
  'leave-a-stopped-file',
  'notify-a-page-that-has-started',
] as const;

/** Name of one change of the workflows. */
export type PatchName = (typeof PATCHES)[number];
