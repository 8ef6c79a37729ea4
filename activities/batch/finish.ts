import { OPEN_STATES } from '../../src/domain/invoice-state.ts';
import type { BatchSnapshot } from '../../src/domain/messages/messages.ts';
import { BATCH_CANCELLED, NOT_SENT } from '../settling/settle.ts';
import type { BatchWork, OwnedWork } from '../assert-ownership.ts';
import type { ActivityDeps, ReportSummary } from '../deps.ts';
import { snapshotOf } from './running-batch.ts';
import type { NotedAction, SendingControl } from '../../src/domain/records/batch-record.ts';

export interface FinishInput extends BatchWork {
  readonly cancelled: boolean;
  /** The last order of an operator. Optional: the default is none. */
  readonly control?: SendingControl | null;
  /** Operator actions that no refresh has recorded yet. */
  readonly actions: readonly NotedAction[];
}

/** Gives every open invoice its end state; the next run of the same file continues with it. Returns how the batch ended. */
export async function finishBatch(deps: ActivityDeps, input: FinishInput): Promise<BatchSnapshot> {
  const { batchId, fencingToken, cancelled, actions } = input;
  // The ledger may have been away when the order came.
  if (input.control) await deps.ledger.recordControl(input.control);
  await deps.ledger.noteActions(batchId, actions);
  const snapshot = await snapshotOf(deps, batchId);
  // Nearly always, no invoice is open, and to search for open ones would cost as much as this count.
  const hasOpen = OPEN_STATES.some((state) => (snapshot.counts[state] ?? 0) > 0);
  const state = cancelled ? 'cancelled' : 'finished';
  if (!hasOpen) {
    await deps.ledger.setBatchState(batchId, state, deps.now(), fencingToken);
    return snapshot;
  }
  const unsent = cancelled ? BATCH_CANCELLED : NOT_SENT;
  const left = await deps.ledger.endBatch(batchId, { state, unsent, left: PAGE_FAILED, now: deps.now(), fencingToken });
  if (left > 0) deps.log.warn('a failed page left invoices open', { batchId, invoices: left });
  return snapshotOf(deps, batchId);
}

const PAGE_FAILED = {
  code: 'page-failed',
  message:
    'The page of this invoice ended before the final answer of the service. Reconciliation goes on asking where that cannot make a second invoice, unless the batch is stopped.',
};

/** Writes the outcome report of a batch from the ledger; with `standing` (it was closed before this run), reuses a report that is still true. */
export async function writeReport(
  deps: ActivityDeps,
  { batchId, standing }: OwnedWork & { readonly batchId: string; readonly standing: boolean },
): Promise<ReportSummary> {
  const existing = standing ? await deps.reports.reuse(batchId) : null;
  if (existing !== null) return existing;
  const written = await deps.reports.write(batchId);
  const { state, reports } = written;
  await deps.announce({ kind: 'batch', id: batchId, state, html: reports.html, json: reports.json });
  return written;
}
