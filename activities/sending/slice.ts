import type { AnswerCounts } from '../../src/domain/answer-counts.ts';
import type { ClaimingRun } from '../../src/domain/ports/ledger/sending-control-ledger.ts';
import type { Waiting } from './circuit-breaker.ts';

/** Some neighbouring invoices of a page, by their ordinals: what one activity sends. */
export interface SliceInput {
  readonly ledgerId: string;
  readonly batchId: string;
  readonly page: number;
  readonly from: number;
  readonly to: number;
  /** The run that holds the batch's claim; left out by runs of an earlier version. */
  readonly run?: ClaimingRun | undefined;
  readonly fencingToken?: number | undefined;
  /** What the service had said of the batch when its round began; left out: nothing. */
  readonly before?: AnswerCounts | undefined;
}

/** Result of a slice; `accepted` and `left` are numbers of invoices. */
export interface SliceResult {
  /** Accepted now. */
  readonly accepted: number;
  /** Still to be sent, by the same key and bytes. */
  readonly left: number;
  /** The rest of the batch is held: send nothing more. */
  readonly stop: boolean;
  /** For how long it could send; left out by workers of an earlier version. */
  readonly triedMs?: number;
  /** Trouble of the whole service: the page sleeps, and then asks again. */
  readonly waiting: Waiting | null;
}
