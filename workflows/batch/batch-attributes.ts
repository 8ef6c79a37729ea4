import { defineSearchAttributeKey, SearchAttributeType, type SearchAttributePair } from '@temporalio/common';
import { upsertSearchAttributes } from '@temporalio/workflow';

const LOTE_BATCH = defineSearchAttributeKey('LoteBatch', SearchAttributeType.KEYWORD);
const LOTE_STATE = defineSearchAttributeKey('LoteState', SearchAttributeType.KEYWORD);
const LOTE_PROBLEMS = defineSearchAttributeKey('LoteProblems', SearchAttributeType.INT);

/** The words of the report, for lists such as `LoteState = "paused"` or `LoteProblems > 0` in the Temporal UI. */
export interface BatchAttributes {
  readonly batchId: string;
  readonly state: 'running' | 'held' | 'paused' | 'refused' | 'cancelled' | 'finished';
  /** Invoices at rest that are not confirmed as issued; a refused file counts as one. */
  readonly problems: number;
}

/** An event of the history each time: once a batch begins and ends, and when an operator pauses or resumes it. */
export function upsertBatchAttributes({ batchId, state, problems }: BatchAttributes): void {
  upsertSearchAttributes([
    ...pageAttributes(batchId),
    { key: LOTE_STATE, value: state },
    { key: LOTE_PROBLEMS, value: problems },
  ]);
}

/** Pages are found by their batch; they come with these attributes when they start, which costs no event. */
export function pageAttributes(batchId: string): SearchAttributePair[] {
  return [{ key: LOTE_BATCH, value: batchId }];
}
