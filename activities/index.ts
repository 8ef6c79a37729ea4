import type { SendingControl } from '../src/domain/records/batch-record.ts';
import type { ActivityDeps } from './deps.ts';
import { pollUnsettled } from './settling/poll-statuses.ts';
import { closePage, lookAtPage, reviewPage } from './settling/settle.ts';
import { awaitFirstInvoices, judgeCanary } from './sending/first-invoices.ts';
import { guarded } from './failure.ts';
import { finishBatch, writeReport } from './batch/finish.ts';
import { ingestBatch } from './batch/ingest.ts';
import { refreshSnapshot } from './batch/running-batch.ts';
import { assertOwnership, type OwnedWork } from './assert-ownership.ts';
import { closeOrphans } from './settling/close-orphans.ts';
import { ensureMerchants } from './sending/merchants.ts';
import { pollOpenDocuments, outdatedReports, repeatUnknown } from './settling/reconcile.ts';
import {
  archiveDrop,
  claimDrops,
  closeNightMessage,
  finishNightlyRun,
  openNightlyRun,
  sendNightMessage,
  waitingDrops,
} from './nightly/nightly.ts';
import { confirmTotal, reopenBatch, sendAgain } from './batch/retry.ts';
import { createSubmitSlice } from './sending/submit-slice.ts';

/** All activities of a worker, as workflows call them. */
export type Activities = ReturnType<typeof createActivities>;

/** Binds all activities to their adapters; each refuses work of another ledger, application or account. */
export function createActivities(deps: ActivityDeps) {
  const bind = <I extends OwnedWork, O>(name: string, run: (deps: ActivityDeps, input: I) => Promise<O>) =>
    guarded(name, deps, async (input: I) => {
      await assertOwnership(deps, input);
      return run(deps, input);
    });
  return {
    ingestBatch: bind('ingestBatch', ingestBatch),
    ensureMerchants: bind('ensureMerchants', ensureMerchants),
    submitSlice: bind('submitSlice', createSubmitSlice(deps)),
    reviewPage: bind('reviewPage', reviewPage),
    closePage: bind('closePage', closePage),
    lookAtPage: bind('lookAtPage', lookAtPage),
    confirmTotal: bind('confirmTotal', confirmTotal),
    finishBatch: bind('finishBatch', finishBatch),
    refreshSnapshot: bind('refreshSnapshot', refreshSnapshot),
    // Returns false if this run no longer holds the batch.
    recordControl: bind('recordControl', ({ ledger }, input: OwnedWork & SendingControl) =>
      ledger.recordControl(input),
    ),
    writeReport: bind('writeReport', writeReport),
    awaitFirstInvoices: bind('awaitFirstInvoices', awaitFirstInvoices),
    judgeCanary: bind('judgeCanary', judgeCanary),
    reopenBatch: bind('reopenBatch', reopenBatch),
    sendAgain: bind('sendAgain', sendAgain),
    closeOrphans: bind('closeOrphans', closeOrphans),
    repeatUnknown: bind('repeatUnknown', repeatUnknown),
    pollUnsettled: bind('pollUnsettled', pollUnsettled),
    pollOpenDocuments: bind('pollOpenDocuments', pollOpenDocuments),
    outdatedReports: bind('outdatedReports', outdatedReports),
    openNightlyRun: bind('openNightlyRun', openNightlyRun),
    claimDrops: bind('claimDrops', claimDrops),
    waitingDrops: bind('waitingDrops', waitingDrops),
    archiveDrop: bind('archiveDrop', archiveDrop),
    finishNightlyRun: bind('finishNightlyRun', finishNightlyRun),
    sendNightMessage: bind('sendNightMessage', sendNightMessage),
    closeNightMessage: bind('closeNightMessage', closeNightMessage),
  };
}
