import { proxyActivities, proxyLocalActivities, type ActivityOptions } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';

/** Repeats an activity until it works, unless it throws a non-retryable failure (activities/failure.ts). */
const RETRY = { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s' } as const;

/** Reading a file of a million rows takes minutes; a heartbeat each portion tells a slow disk from a dead worker. */
const INGEST: ActivityOptions = { startToCloseTimeout: '6h', heartbeatTimeout: '30s', retry: RETRY };

/** A slice limits its sending, a canary its wait, and the end of a night its announcement, each to about a minute; 5 minutes leave room for slow answers. */
const SUBMIT: ActivityOptions = { startToCloseTimeout: '5m', heartbeatTimeout: '30s', retry: RETRY };

/** Takes one request for each merchant, or up to a page of GETs. */
const REQUESTS: ActivityOptions = { startToCloseTimeout: '30m', heartbeatTimeout: '30s', retry: RETRY };

/** A report of a very large batch is a few hundred megabytes of disk. */
const REPORT: ActivityOptions = { startToCloseTimeout: '1h', heartbeatTimeout: '30s', retry: RETRY };
/** A folder that cannot be written must not block the next reconciliation, which then writes the missing reports. */
const MISSING_REPORT: ActivityOptions = { ...REPORT, retry: { ...RETRY, maximumAttempts: 3 } };

/** A few small statements in the ledger. An activity of a dead worker is repeated after this time. */
const BOOKKEEPING: ActivityOptions = { startToCloseTimeout: '2m', heartbeatTimeout: '20s', retry: RETRY };
/** A refresh may record an action that the ledger could not take before. Its tries are frequent, so that it succeeds soon after the ledger is back. */
const REFRESH: ActivityOptions = {
  ...BOOKKEEPING,
  retry: { ...RETRY, initialInterval: '500ms', maximumInterval: '2s' },
};

/** The mail server may be away all night; the activity limits each try itself. Meanwhile, the reader has the page of the night. */
const NIGHT_MESSAGE: ActivityOptions = {
  startToCloseTimeout: '3m',
  heartbeatTimeout: '30s',
  scheduleToCloseTimeout: '12h',
  retry: { initialInterval: '5s', backoffCoefficient: 2, maximumInterval: '10m' },
};

/** Takes one request for each open invoice. Because of the heartbeat, another worker takes over from a dead one within a minute. */
const RECONCILE: ActivityOptions = { startToCloseTimeout: '2h', heartbeatTimeout: '30s', retry: RETRY };

/**
 * A local activity, because slices may take all slots of other activities for a minute, but not those of local
 * activities, and because it costs one event. An operator waits for it, so it soon gives up on a ledger that is away;
 * the refresh that follows writes the same order, however long that takes.
 */
const { recordControl } = proxyLocalActivities<Activities>({
  startToCloseTimeout: '2s',
  scheduleToCloseTimeout: '3s',
  retry: { initialInterval: '100ms', backoffCoefficient: 2, maximumInterval: '500ms' },
});

/**
 * A local activity, because it takes a few small statements of the ledger and costs one event. It ends before its
 * workflow task must be prolonged. It does not wait for a ledger that is away; the review that follows waits for it.
 */
const { lookAtPage } = proxyLocalActivities<Activities>({
  scheduleToCloseTimeout: '7s',
  retry: { maximumAttempts: 1 },
});

/** Every activity that a workflow orders: its time limits, and its label in the Temporal UI. */
export const activities = {
  ingestBatch: labelled('ingestBatch', INGEST, 'reading the file'),
  confirmTotal: labelled('confirmTotal', BOOKKEEPING, 'an operator confirmed the total'),
  ensureMerchants: labelled('ensureMerchants', REQUESTS, 'the merchants of the batch'),
  submitFirst: labelled('submitSlice', SUBMIT, 'a few invoices first'),
  awaitFirstInvoices: labelled('awaitFirstInvoices', SUBMIT, 'waiting for final words of the first invoices'),
  judgeCanary: labelled('judgeCanary', BOOKKEEPING, 'did all of the first ones go wrong?'),
  submitSlice: labelled('submitSlice', SUBMIT, 'sending invoices'),
  lookAtPage,
  reviewPage: labelled('reviewPage', REQUESTS, 'final words: what the ledger knows'),
  pollNow: labelled('reviewPage', REQUESTS, 'an operator wants every pending invoice polled now'),
  closePage: labelled('closePage', BOOKKEEPING, 'closing the page'),
  sendAgain: labelled('sendAgain', BOOKKEEPING, 'what goes again'),
  pollUnsettled: labelled('pollUnsettled', RECONCILE, 'polling what an earlier run left unsettled'),
  finishBatch: labelled('finishBatch', BOOKKEEPING, 'closing the batch'),
  writeReport: labelled('writeReport', REPORT, 'the report'),
  recordControl,
  refreshSnapshot: labelled('refreshSnapshot', REFRESH, 'refreshing the current details and the audit from the ledger'),
  reopenBatch: labelled('reopenBatch', BOOKKEEPING, 'what may go again, and the line in the audit'),

  closeOrphans: labelled('closeOrphans', BOOKKEEPING, 'batches that no run works on any more'),
  repeatUnknown: labelled('repeatUnknown', RECONCILE, 'unknown invoices again, same key and bytes'),
  pollOpenDocuments: labelled('pollOpenDocuments', RECONCILE, 'documents without a final word'),
  outdatedReports: labelled('outdatedReports', BOOKKEEPING, 'which reports have changed'),
  writeMissingReport: labelled('writeReport', MISSING_REPORT, 'a report that has changed, or is missing'),

  openNightlyRun: labelled('openNightlyRun', BOOKKEEPING, 'opening the night'),
  claimDrops: labelled('claimDrops', INGEST, 'what was dropped, and is complete'),
  waitingDrops: labelled('waitingDrops', BOOKKEEPING, 'which batches wait for a person'),
  archiveDrop: labelled('archiveDrop', BOOKKEEPING, 'archiving a file'),
  finishNightlyRun: labelled('finishNightlyRun', SUBMIT, 'the summary of the night'),
  sendNightMessage: labelled('sendNightMessage', NIGHT_MESSAGE, 'the message of the night'),
  closeNightMessage: labelled('closeNightMessage', BOOKKEEPING, 'noting that the message is not sent'),
};

function labelled<Name extends keyof Activities>(name: Name, options: ActivityOptions, summary: string) {
  return proxyActivities<Activities>({ ...options, summary })[name];
}
