import type { ActivityOptions } from '@temporalio/workflow';

/** Repeats an activity until it works, unless it throws a non-retryable failure (activities/failure.ts). */
const RETRY = { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s' } as const;

/** Reading a file of a million rows takes minutes; a heartbeat each portion tells a slow disk from a dead worker. */
export const INGEST: ActivityOptions = { startToCloseTimeout: '6h', heartbeatTimeout: '30s', retry: RETRY };

/** A slice limits its own sending to about a minute; 5 minutes leave room for slow answers at the end. */
export const SUBMIT: ActivityOptions = { startToCloseTimeout: '5m', heartbeatTimeout: '30s', retry: RETRY };

/** Listing and creating merchants is one request per merchant. */
export const MERCHANTS: ActivityOptions = { startToCloseTimeout: '30m', heartbeatTimeout: '30s', retry: RETRY };

/** The wait ends by itself after half a minute and a few GETs. */
export const FIRST_WORDS: ActivityOptions = { startToCloseTimeout: '5m', heartbeatTimeout: '20s', retry: RETRY };

/** Allows for up to a page of GETs. */
export const SETTLE: ActivityOptions = { startToCloseTimeout: '10m', heartbeatTimeout: '30s', retry: RETRY };

/** A report of a very large batch is a few hundred megabytes of disk. */
export const REPORT: ActivityOptions = { startToCloseTimeout: '1h', heartbeatTimeout: '30s', retry: RETRY };

/** A few small statements in the ledger. An activity of a dead worker is repeated after this time. */
export const BOOKKEEPING: ActivityOptions = { startToCloseTimeout: '2m', heartbeatTimeout: '20s', retry: RETRY };

/** The mail server may be away over the night; the activity bounds each try itself. The reader has the page. */
export const NIGHT_MESSAGE: ActivityOptions = {
  startToCloseTimeout: '3m',
  heartbeatTimeout: '30s',
  scheduleToCloseTimeout: '12h',
  retry: { initialInterval: '5s', backoffCoefficient: 2, maximumInterval: '10m' },
};

/** One request per invoice that was left open. The heartbeat keeps the wait for a dead worker under a minute. */
export const RECONCILE: ActivityOptions = { startToCloseTimeout: '2h', heartbeatTimeout: '30s', retry: RETRY };
