import { isNothing, type AnswerCounts } from '../../src/domain/answer-counts.ts';
import type { OperatorLinks, BatchSettings, BatchSnapshot, UnusualTotal } from '../../src/domain/messages/messages.ts';
import { countAnswers } from '../sending/budgets.ts';
import type { ActivityDeps } from '../deps.ts';
import { firstInvoicesOf, type FirstInvoices } from '../sending/first-invoices.ts';
import { misfitsOf } from '../../src/domain/calibration-state.ts';
import { isProblem, wentOut } from '../../src/domain/invoice-state.ts';
import { countsByOutcome, netByCurrency } from '../../src/domain/outcome-counts.ts';
import type { BatchWork } from '../assert-ownership.ts';
import type {
  BatchRecord,
  ClaimingRun,
  NotedAction,
  OutcomeCount,
  SendingControl,
} from '../../src/domain/records/batch-record.ts';

/** One page with open invoices. Ordinals are inclusive and count from 1. */
export interface PageSpan {
  readonly page: number;
  readonly firstOrdinal: number;
  readonly lastOrdinal: number;
}

/** A batch that is ready to run: its open pages, its settings, and its present state. */
export interface RunningBatch {
  readonly kind: 'running';
  readonly ledgerId: string;
  readonly batchId: string;
  /** Proves that a write belongs to this round of the batch. */
  readonly fencingToken: number;
  /** The run that holds the claim. */
  readonly run: ClaimingRun;
  readonly invoices: number;
  readonly pages: readonly PageSpan[];
  readonly settings: BatchSettings;
  readonly desk: OperatorLinks;
  /** Snapshot before anything is sent. */
  readonly standing: BatchSnapshot;
  /** Invoices that an earlier run left `unsettled`, to be polled. Optional: the default is 0. */
  readonly unsettled?: number;
  /** The first invoices of a large batch. Left out for a small batch, or if nothing is left to send. */
  readonly first?: FirstInvoices;
  /** The service's earlier answers to the batch. Optional: the default is none. */
  readonly before?: AnswerCounts;
  /** Everything is held until an operator confirms this total; left out if no confirmation is needed. */
  readonly unusual?: UnusualTotal;
}

/** Returns what a run needs to know of its batch: the pages with work to do, and its time limits. */
export async function runningBatch(
  deps: ActivityDeps,
  batch: BatchRecord,
  unusual: UnusualTotal | null = null,
): Promise<RunningBatch> {
  const { sliceSize, settleMs, sendMs, patienceMs } = deps.settings;
  // Each of these queries reads the whole batch, and nothing of the batch is sent meanwhile.
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

export interface RefreshSnapshotInput extends BatchWork {
  /** The last order for the senders; left out if the run has no batch that it may change. */
  readonly control?: SendingControl | undefined;
  /** Operator actions since the last refresh. */
  readonly actions: readonly NotedAction[];
}

/** Limits of a snapshot. History keeps each one: it shows the pattern, and has a few kilobytes at most. */
const MOST_CURRENCIES = 8;
const MOST_FINDINGS = 4;
/** Largest age of the known profile state. */
const FRESH_MS = 1_000;

/** Records operator actions and reads the state of the batch. */
export async function refreshSnapshot(deps: ActivityDeps, input: RefreshSnapshotInput): Promise<BatchSnapshot> {
  const { batchId, actions, control } = input;
  await deps.ledger.noteActions(batchId, actions);
  // Records the order at each refresh, not only after a new order: a restored ledger, or a standby that was promoted,
  // may have lost the last order. A later order, or a batch that has ended, overrides this one.
  if (control !== undefined) await deps.ledger.recordControl(control);
  return snapshotOf(deps, batchId);
}

/** Returns counts by state, net by currency and the number of problems, but no names. */
export async function snapshotOf(deps: ActivityDeps, batchId: string): Promise<BatchSnapshot> {
  const { ledger, now, calibration } = deps;
  const counts = await ledger.countOutcomes(batchId);
  const problems = counts.filter(({ outcome }) => isProblem(outcome)).reduce((sum, { invoices }) => sum + invoices, 0);
  const findings = misfitsOf(await calibration.known(FRESH_MS));
  return {
    at: now(),
    counts: countsByOutcome(counts),
    net: netOf(counts),
    problems,
    ...(findings.length > 0 && { misfits: findings.slice(0, MOST_FINDINGS).map(({ message }) => message) }),
  };
}

function netOf(counts: readonly OutcomeCount[]): BatchSnapshot['net'] {
  const gone = netByCurrency(counts.filter(({ outcome }) => wentOut(outcome)));
  const all = [...netByCurrency(counts)].slice(0, MOST_CURRENCIES);
  return all.map(([currency, net]) => ({ currency, all: net, out: gone.get(currency) ?? '0' }));
}
