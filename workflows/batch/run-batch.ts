import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  condition,
  isCancellation,
  log,
  workflowInfo,
} from '@temporalio/workflow';
import type { RunningBatch } from '../../activities/batch/running-batch.ts';
import type { ReportSummary } from '../../activities/deps.ts';
import { isProblem, OUTCOMES } from '../../src/domain/invoice-state.ts';
import type { BatchResult, OperatorLinks } from '../../src/domain/messages/messages.ts';
import { activities } from '../activities.ts';
import type { BatchControl } from './batch-control.ts';
import type { BatchEnd } from './batch-details.ts';
import { growingWait, waitAtMost } from '../wait-at-most.ts';
import { runPages } from './batch-pages.ts';
import { sendCanary, PatientWait } from './canary.ts';

const { sendAgain, pollUnsettled, finishBatch, confirmTotal, ensureMerchants, refreshSnapshot, writeReport } =
  activities;

/**
 * Runs rounds of the pages for as long as there are invoices to send again: those that operators asked for meanwhile
 * (update `retryInvoices`), and failed ones that the retry policy of the service profile names. Generations are
 * limited, so the rounds end. Returns the batch as the last round left it.
 */
async function inRounds(
  batch: BatchControl,
  first: RunningBatch,
  round: (running: RunningBatch) => Promise<void>,
): Promise<RunningBatch> {
  let running = first;
  for (let number = 1; ; number += 1) {
    batch.beginRound(running.pages.map(({ page }) => page));
    await round(running);
    const { ledgerId, batchId, fencingToken } = running;
    const requests = batch.retries.splice(0);
    const actionId = `${workflowInfo().workflowId}/${workflowInfo().runId}/round-${number}`;
    const again = await sendAgain({ ledgerId, batchId, fencingToken, actionId, requests, automatic: !batch.cancelled });
    running = again.batch;
    if (again.moved === 0 && batch.retries.length === 0) break;
  }
  // From here on the run would accept an update and forget it, so the validator refuses updates in this phase.
  batch.phase('reporting');
  return running;
}

/**
 * Runs a staged batch: confirm an unusual total -> merchants -> a few invoices first -> pages, in rounds -> close. If a
 * step fails for good, the run ends with its error, and reconciliation closes the batch and writes its report.
 */
export async function sendAndClose(batch: BatchControl, running: RunningBatch): Promise<void> {
  const { ledgerId, batchId, fencingToken } = await sendAndSettle(batch, running);
  const { cancelled, pendingActions } = batch;
  const control = batch.sendingControl();
  const end = { ledgerId, batchId, fencingToken, cancelled, control, actions: [...pendingActions] };
  batch.showSnapshot(await orUnreported(batch, () => finishBatch(end)));
}

async function sendAndSettle(batch: BatchControl, running: RunningBatch): Promise<RunningBatch> {
  try {
    const last = await withMonitoring(batch, running, async () =>
      inRounds(batch, await whenTotalConfirmed(batch, running), async (round) => {
        await ensureMerchantsPatiently(batch, round);
        await sendCanary(batch, round);
        await runPages(batch, round);
      }),
    );
    const { ledgerId, batchId } = last;
    if (running.unsettled !== undefined) await pollUnsettled({ ledgerId, batchId });
    return last;
  } catch (error) {
    if (error instanceof ActivityFailure && !isCancellation(error)) batch.unreported();
    throw error;
  }
}

const WAITING_FOR = 'total-unusual';

/** If the total is unusual, sends nothing until an operator has confirmed it or cancelled. Returns the batch to send. */
async function whenTotalConfirmed(batch: BatchControl, running: RunningBatch): Promise<RunningBatch> {
  const { ledgerId, batchId, fencingToken, unusual } = running;
  if (unusual === undefined) return running;
  batch.confirming(unusual);
  batch.waitFor(0, WAITING_FOR);
  await condition(() => batch.totalConfirmed || batch.cancelled);
  batch.waitFor(0, null);
  const confirmed = batch.totalConfirmed && !batch.cancelled;
  const next = confirmed
    ? await confirmTotal({ ledgerId, batchId, fencingToken, actions: [...batch.pendingActions] })
    : running;
  batch.begin(next);
  return next;
}

/** After this many rounds in which Lote could read the list but not create a merchant, the trouble is that merchant's. */
const STUCK_ROUNDS = 5;

/** An operator stopped the batch while its merchants were created (`activities/sending/merchants.ts`). */
const STOPPED = 'sending-stopped';

/** Waits patiently for a service that is away. Holds the invoices of single merchants that cannot be created. */
async function ensureMerchantsPatiently(batch: BatchControl, ingested: RunningBatch): Promise<void> {
  const { ledgerId, batchId, fencingToken, run, settings } = ingested;
  const patience = new PatientWait(settings.patienceMs);
  let stuckRounds = 0;
  batch.phase('merchants');
  for (;;) {
    await condition(() => !batch.paused || batch.cancelled);
    // If cancelled, nothing more is sent, so no merchant is needed.
    if (batch.cancelled) break;
    const lastTry = patience.isSpent;
    const version = batch.controlVersion;
    const waiting = await ensureMerchants({
      ledgerId,
      batchId,
      fencingToken,
      run,
      lastTry,
      holdStuck: lastTry || stuckRounds >= STUCK_ROUNDS,
    });
    // A pause says nothing about the service, so this try uses up no patience and is not the last one.
    const isPaused = waiting?.reason === STOPPED && (batch.paused || batch.controlVersion !== version);
    if (isPaused) continue;
    if (waiting === null || lastTry) break;
    stuckRounds = waiting.for === 'merchants' ? stuckRounds + 1 : 0;
    batch.waitFor(0, waiting.reason);
    await patience.wait(batch, { summary: `waiting: ${waiting.reason}`, version });
  }
  batch.waitFor(0, null);
}

/**
 * A refresh costs the history a dozen events: a batch of seconds has no refresh, a batch of a night some hundred
 * events, and 24 days some 4,000. The run holds the claim of its file, so the batch cannot continue in another run.
 */
const REFRESHES = { firstMs: 15_000, longestMs: 10 * 60_000, latestMs: 2 * 60 * 60_000 };

/**
 * Does the work, and meanwhile refreshes the snapshot of the batch from the ledger from time to time. An operator's
 * action causes a refresh at once, so that the audit has the action and people see its effect.
 */
async function withMonitoring<Result>(
  batch: BatchControl,
  running: RunningBatch,
  work: () => Promise<Result>,
): Promise<Result> {
  const scope = new CancellationScope();
  const watching = scope.run(() => watch(batch, running));
  try {
    return await work();
  } finally {
    scope.cancel();
    await watching;
  }
}

/** Never rejects: an action that could not be recorded is recorded when the batch is closed. */
async function watch(batch: BatchControl, running: RunningBatch): Promise<void> {
  try {
    for (const nextWait = growingWait(REFRESHES); ;) {
      await waitAtMost(nextWait(), {
        summary: 'until the next refresh from the ledger',
        until: () => batch.pendingActions.length > 0 || batch.refreshWanted,
      });
      batch.refreshWanted = false;
      await recordActions(batch, running);
    }
  } catch (error) {
    if (!isCancellation(error)) log.warn('the batch is not watched any more', { batchId: running.batchId });
  }
}

/** Writes operators' actions, and the order for the processes that send, to the ledger. Then shows a new snapshot of the batch. */
export async function recordActions(
  batch: BatchControl,
  { ledgerId, batchId }: Pick<RunningBatch, 'ledgerId' | 'batchId'>,
): Promise<void> {
  const actions = [...batch.pendingActions];
  const control = batch.sendingControl() ?? undefined;
  batch.showSnapshot(await refreshSnapshot({ ledgerId, batchId, control, actions }));
  batch.pendingActions.splice(0, actions.length);
}

/** A batch that has ended. */
interface EndedBatch {
  readonly ledgerId: string;
  readonly batchId: string;
  /** An earlier run ended the batch: Lote reuses its report if it is still true. */
  readonly standing: boolean;
  readonly desk: OperatorLinks;
  /** As in `BatchResult`, as this run declared. Optional: the default is the report's. */
  readonly totalsDiffer?: string;
}

/** Writes the report of a batch, which ends its run. @throws ApplicationFailure with the type of its cause; it says what becomes of the batch */
export async function reportBatch(
  batch: BatchControl,
  { ledgerId, batchId, standing, desk, ...declared }: EndedBatch,
): Promise<ReportSummary> {
  batch.phase('reporting');
  const written = await orUnreported(batch, () => writeReport({ ledgerId, batchId, standing }));
  const { totalsDiffer = written.totalsDiffer } = declared;
  const report = totalsDiffer === undefined ? written : { ...written, totalsDiffer };
  batch.done(endOf(report, desk));
  return report;
}

/** Does one of the last steps. If it fails, the error says that all invoices are safe, and that reconciliation makes up for the step. */
async function orUnreported<T>(batch: BatchControl, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
    batch.unreported();
    const failed = error.cause instanceof ApplicationFailure ? error.cause : null;
    const what = (failed?.message ?? 'The last step of the batch was stopped from outside').replace(/\.?$/u, '.');
    throw ApplicationFailure.nonRetryable(
      `${what} The batch has no report of this end yet; the ledger has every invoice. The next reconciliation closes the batch if it is open, and writes its report.`,
      failed?.type ?? 'internal',
    );
  }
}

/** Returns how a batch ended, according to its report. */
export function endOf(
  { batchId, state, counts, totalsDiffer }: Pick<BatchResult, 'batchId' | 'state' | 'counts' | 'totalsDiffer'>,
  links: OperatorLinks,
): BatchEnd {
  const notOut = OUTCOMES.filter((outcome) => isProblem(outcome)).reduce(
    (sum, outcome) => sum + (counts[outcome] ?? 0),
    counts.rowsLost ?? 0,
  );
  const isProblemItself = state === 'refused' || totalsDiffer !== undefined;
  const { contradicted = 0 } = counts;
  const problems = (isProblemItself ? Math.max(notOut, 1) : notOut) + contradicted;
  const areTotalsAlone = totalsDiffer !== undefined && notOut === 0;
  return { batchId, links, state, problems, contradicted, totalsDiffer: areTotalsAlone };
}
