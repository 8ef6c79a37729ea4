import { isNothing, type AnswerCounts } from '../../src/domain/answer-counts.ts';
import type { OperatorLinks, BatchSettings, BatchSnapshot, UnusualTotal } from '../../src/domain/messages/messages.ts';
import { countAnswers } from '../sending/budgets.ts';
import type { ActivityDeps } from '../deps.ts';
import { firstInvoicesOf, type FirstInvoices } from '../sending/first-invoices.ts';
import { snapshotOf } from './refresh-snapshot.ts';
import type { BatchRecord, ClaimingRun } from '../../src/domain/records/batch-record.ts';

/** One page with open invoices. Ordinals are inclusive and count from 1. */
export interface PageSpan {
  readonly page: number;
  readonly firstOrdinal: number;
  readonly lastOrdinal: number;
}

/** A batch that is ready to run: its open pages, its settings, and where it stands. */
export interface RunningBatch {
  readonly kind: 'running';
  readonly ledgerId: string;
  readonly batchId: string;
  /** Proves that what is written belongs to this round of the batch. */
  readonly fencingToken: number;
  /** The run that holds the claim. */
  readonly run: ClaimingRun;
  readonly invoices: number;
  readonly pages: readonly PageSpan[];
  readonly settings: BatchSettings;
  readonly desk: OperatorLinks;
  /** Snapshot before anything is sent. */
  readonly standing: BatchSnapshot;
  /** Invoices that an earlier run left `unsettled`, to be polled; left out: none. */
  readonly unsettled?: number;
  /** What goes before the rest of a large batch. Left out for small batches, and where nothing is left to send. */
  readonly first?: FirstInvoices;
  /** What the service had said of the batch's invoices; left out: nothing. */
  readonly before?: AnswerCounts;
  /** Everything is held until an operator has confirmed this total; left out: nothing is asked. */
  readonly unusual?: UnusualTotal;
}

/** What a run needs to know of its batch: the pages with something to do, and how patient to be. */
export async function runningBatch(
  deps: ActivityDeps,
  batch: BatchRecord,
  unusual: UnusualTotal | null = null,
): Promise<RunningBatch> {
  const { sliceSize, settleMs, sendMs, patienceMs } = deps.settings;
  // Each reads the whole batch, and nothing of it is sent meanwhile.
  const [open, snapshot, before, first] = await Promise.all([
    deps.ledger.openPages(batch.batchId),
    snapshotOf(deps, batch.batchId),
    countAnswers(deps, batch),
    firstInvoicesOf(deps, batch),
  ]);
  const { unsettled = 0 } = snapshot.counts;
  return {
    kind: 'running',
    ledgerId: deps.ledger.id,
    batchId: batch.batchId,
    fencingToken: batch.fencingToken,
    run: { workflowId: batch.workflowId, runId: batch.runId },
    invoices: batch.invoices,
    pages: open.map((page) => ({
      page,
      firstOrdinal: (page - 1) * batch.pageSize + 1,
      lastOrdinal: Math.min(page * batch.pageSize, batch.invoices),
    })),
    settings: { sliceSize, settleMs, sendMs, patienceMs },
    desk: deps.operatorLinks(),
    standing: snapshot,
    ...(unsettled === 0 ? {} : { unsettled }),
    ...(first === undefined ? {} : { first }),
    ...(isNothing(before) ? {} : { before }),
    ...(unusual === null ? {} : { unusual }),
  };
}
