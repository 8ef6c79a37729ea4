import { Context } from '@temporalio/activity';
import type { NotedAction } from '../../src/domain/ports/ledger/operating-ledger.ts';
import type { FencingToken } from '../../src/domain/ports/ledger/batch-record.ts';
import type { Reason } from '../../src/domain/invoice.ts';
import { OPEN_STATES } from '../../src/domain/invoice-state.ts';
import type { BatchSnapshot } from '../../src/contract/messages.ts';
import { BATCH_CANCELLED } from '../batch-cancelled.ts';
import type { ActivityDeps } from '../deps.ts';
import { unansweredAtClose } from '../stopped-unanswered.ts';
import { snapshotOf } from './refresh-snapshot.ts';

export interface FinishInput {
  readonly ledgerId: string;
  readonly batchId: string;
  readonly fencingToken?: number | undefined;
  readonly cancelled: boolean;
  /** What operators did and no look has written down yet. */
  readonly actions: readonly NotedAction[];
  /** A step of the run has failed for good; left out: none has. */
  readonly isFailed?: boolean;
}

/** What no page has sent or closed by now gets the state that says so; the next run of the same file takes it up. Returns how the batch ended. */
export async function finishBatch(deps: ActivityDeps, input: FinishInput): Promise<BatchSnapshot> {
  const { batchId, cancelled, actions } = input;
  const fencingToken = await latestToken(deps, input);
  await deps.ledger.noteActions(batchId, actions);
  const snapshot = await snapshotOf(deps, batchId);
  // Nearly always none: to look for them costs as much as to count them.
  const hasOpen = OPEN_STATES.some((state) => (snapshot.counts[state] ?? 0) > 0);
  const state = cancelled ? 'cancelled' : 'finished';
  if (!hasOpen) {
    await deps.ledger.setBatchState(batchId, state, deps.now(), fencingToken);
    return snapshot;
  }
  const unsent = cancelled ? BATCH_CANCELLED : NOT_SENT;
  await closeOpen(deps, { batchId, fencingToken, cancelled }, unsent);
  await deps.ledger.endBatch(batchId, { state, unsent, now: deps.now(), fencingToken });
  return snapshotOf(deps, batchId);
}

/** The step that failed may have begun a round, and what it left undone must write no more: a round of our own, which a later attempt begins anew. */
async function latestToken(
  { ledger }: ActivityDeps,
  { batchId, fencingToken, isFailed }: FinishInput,
): Promise<FencingToken> {
  if (isFailed !== true || fencingToken === undefined) return fencingToken;
  const { attempt } = Context.current().info;
  return (await ledger.beginRound({ batchId, fencingToken, attempt })).fencingToken;
}

async function closeOpen(
  deps: ActivityDeps,
  { batchId, fencingToken, cancelled }: Pick<FinishInput, 'batchId' | 'fencingToken' | 'cancelled'>,
  unsent: Reason,
): Promise<void> {
  const now = deps.now();
  const unanswered = await unansweredAtClose(deps, { batchId, cancelled });
  await deps.ledger.holdUnsent(batchId, { reason: unsent, now, fencingToken });
  // Only a page that failed leaves something open here.
  const left = await deps.ledger.closeBatch(batchId, { reason: PAGE_FAILED, unanswered, now, fencingToken });
  if (left > 0) deps.log.warn('a failed page left invoices open', { batchId, invoices: left });
}

const NOT_SENT = {
  code: 'not-sent',
  message: 'The batch ended before this invoice was sent. Drop the file again to send it.',
};
const PAGE_FAILED = {
  code: 'page-failed',
  message:
    'The page of this invoice ended before the final answer of the service. Reconciliation goes on asking where that cannot make a second invoice.',
};
