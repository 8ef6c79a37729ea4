import type { ActivityDeps } from './deps.ts';
import { askUnsettled } from './settling/poll-unsettled.ts';
import { closePage } from './settling/close-page.ts';
import { awaitFirstInvoices } from './sending/first-invoices.ts';
import { guarded } from './failure.ts';
import { finishBatch } from './batch/finish.ts';
import { ingestBatch } from './batch/ingest.ts';
import { judgeCanary } from './sending/judge-canary.ts';
import { lookAtBatch } from './batch/refresh-snapshot.ts';
import { recordControl } from './batch/record-control.ts';
import { requireOwnWork, type AskedWork } from './assert-ownership.ts';
import { closeOrphans } from './settling/orphaned-batches.ts';
import { ensureMerchants } from './sending/merchants.ts';
import { askOpenDocuments, outdatedReports, repeatUnknown } from './settling/reconcile.ts';
import { claimDrops, finishNight, openNight, shelveDrop } from './nightly/nightly.ts';
import { writeReport } from './batch/report.ts';
import { reopenBatch, sendAgain } from './batch/retry.ts';
import { reviewPage } from './settling/settle.ts';
import { createSubmitSlice } from './sending/submit-slice.ts';
import { tellingWhyItWaits } from './batch/waiting-notice.ts';

export type Activities = ReturnType<typeof createActivities>;

/** All activities, bound to their adapters; each refuses work that belongs to another ledger, application or account. */
export function createActivities(deps: ActivityDeps) {
  const bind = <I extends AskedWork, O>(name: string, run: (deps: ActivityDeps, input: I) => Promise<O>) =>
    guarded(
      name,
      deps.log,
      tellingWhyItWaits(name, deps.tellWaiting, async (input: I) => {
        await requireOwnWork(deps, input);
        return run(deps, input);
      }),
    );
  return {
    ingestBatch: bind('ingestBatch', ingestBatch),
    ensureMerchants: bind('ensureMerchants', ensureMerchants),
    submitSlice: bind('submitSlice', createSubmitSlice(deps)),
    reviewPage: bind('reviewPage', reviewPage),
    closePage: bind('closePage', closePage),
    finishBatch: bind('finishBatch', finishBatch),
    lookAtBatch: bind('lookAtBatch', lookAtBatch),
    recordControl: bind('recordControl', recordControl),
    writeReport: bind('writeReport', writeReport),
    awaitFirstInvoices: bind('awaitFirstInvoices', awaitFirstInvoices),
    judgeCanary: bind('judgeCanary', judgeCanary),
    reopenBatch: bind('reopenBatch', reopenBatch),
    sendAgain: bind('sendAgain', sendAgain),
    closeOrphans: bind('closeOrphans', closeOrphans),
    repeatUnknown: bind('repeatUnknown', repeatUnknown),
    askUnsettled: bind('askUnsettled', askUnsettled),
    askOpenDocuments: bind('askOpenDocuments', askOpenDocuments),
    outdatedReports: bind('outdatedReports', outdatedReports),
    openNight: bind('openNight', openNight),
    claimDrops: bind('claimDrops', claimDrops),
    shelveDrop: bind('shelveDrop', shelveDrop),
    finishNight: bind('finishNight', finishNight),
  };
}
