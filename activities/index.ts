import type { ActivityDeps } from './deps.ts';
import { askUnsettled } from './ask-unsettled.ts';
import { closePage } from './close-page.ts';
import { awaitFirstInvoices } from './first-invoices.ts';
import { guarded } from './failure.ts';
import { finishBatch } from './finish.ts';
import { ingestBatch } from './ingest.ts';
import { judgeCanary } from './judge-canary.ts';
import { lookAtBatch } from './look-at-batch.ts';
import { recordControl } from './record-control.ts';
import { requireOwnWork, type AskedWork } from './own-work.ts';
import { closeOrphans } from './orphans.ts';
import { ensureMerchants } from './merchants.ts';
import { askOpenDocuments, outdatedReports, repeatUnknown } from './reconcile.ts';
import { claimDrops, finishNight, openNight, shelveDrop } from './nightly.ts';
import { writeReport } from './report.ts';
import { reopenBatch, sendAgain } from './retry.ts';
import { reviewPage } from './settle.ts';
import { createSubmitSlice } from './submit.ts';
import { tellingWhyItWaits } from './waiting-notice.ts';

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
