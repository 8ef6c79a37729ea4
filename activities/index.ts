import type { ActivityDeps } from './deps.ts';
import { pollUnsettled } from './settling/poll-unsettled.ts';
import { closePage } from './settling/close-page.ts';
import { lookAtPage } from './settling/look-at-page.ts';
import { awaitFirstInvoices } from './sending/first-invoices.ts';
import { guarded } from './failure.ts';
import { confirmTotal } from './batch/confirm-total.ts';
import { findOnlyApplication, type FoundApplication } from './find-application.ts';
import { finishBatch } from './batch/finish.ts';
import { ingestBatch } from './batch/ingest.ts';
import { judgeCanary } from './sending/judge-canary.ts';
import { refreshSnapshot } from './batch/refresh-snapshot.ts';
import { recordControl } from './batch/record-control.ts';
import { assertOwnership, type OwnedWork } from './assert-ownership.ts';
import { closeOrphans } from './settling/close-orphans.ts';
import { ensureMerchants } from './sending/merchants.ts';
import { pollOpenDocuments, outdatedReports, repeatUnknown } from './settling/reconcile.ts';
import { archiveDrop, claimDrops, finishNightlyRun, openNightlyRun } from './nightly/nightly.ts';
import { closeNightMessage, sendNightMessage } from './nightly/night-message.ts';
import { writeReport } from './batch/report.ts';
import { reopenBatch, sendAgain } from './batch/retry.ts';
import { reviewPage } from './settling/settle.ts';
import { createSubmitSlice } from './sending/submit-slice.ts';
import { notifyingWaits } from './batch/waiting-notice.ts';

/** All activities of a worker, as workflows call them. */
export type Activities = ReturnType<typeof createActivities>;

/** All activities, bound to their adapters; each refuses work that belongs to another ledger, application or account. */
export function createActivities(deps: ActivityDeps) {
  const bind = <I extends OwnedWork, O>(name: string, run: (deps: ActivityDeps, input: I) => Promise<O>) =>
    guarded(
      name,
      deps.log,
      notifyingWaits(name, deps.notifyWaiting, async (input: I) => {
        await assertOwnership(deps, input);
        return run(deps, input);
      }),
    );
  // The names on the left stand in recorded histories: a function may be renamed, its activity may not.
  return {
    ingestBatch: bind('ingestBatch', ingestBatch),
    ensureMerchants: bind('ensureMerchants', ensureMerchants),
    submitSlice: bind('submitSlice', createSubmitSlice(deps)),
    reviewPage: bind('reviewPage', reviewPage),
    closePage: bind('closePage', closePage),
    lookAtPage: bind('lookAtPage', lookAtPage),
    findApplication: guarded<OwnedWork, FoundApplication>('findApplication', deps.log, () => findOnlyApplication(deps)),
    confirmTotal: bind('confirmTotal', confirmTotal),
    finishBatch: bind('finishBatch', finishBatch),
    lookAtBatch: bind('lookAtBatch', refreshSnapshot),
    recordControl: bind('recordControl', recordControl),
    writeReport: bind('writeReport', writeReport),
    awaitFirstInvoices: bind('awaitFirstInvoices', awaitFirstInvoices),
    judgeCanary: bind('judgeCanary', judgeCanary),
    reopenBatch: bind('reopenBatch', reopenBatch),
    sendAgain: bind('sendAgain', sendAgain),
    closeOrphans: bind('closeOrphans', closeOrphans),
    repeatUnknown: bind('repeatUnknown', repeatUnknown),
    askUnsettled: bind('askUnsettled', pollUnsettled),
    askOpenDocuments: bind('askOpenDocuments', pollOpenDocuments),
    outdatedReports: bind('outdatedReports', outdatedReports),
    openNight: bind('openNight', openNightlyRun),
    claimDrops: bind('claimDrops', claimDrops),
    shelveDrop: bind('shelveDrop', archiveDrop),
    finishNight: bind('finishNight', finishNightlyRun),
    sendNightMessage: bind('sendNightMessage', sendNightMessage),
    closeNightMessage: bind('closeNightMessage', closeNightMessage),
  };
}
