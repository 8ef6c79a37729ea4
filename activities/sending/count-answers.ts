import { answersSince, type AnswerCounts } from '../../src/domain/answer-counts.ts';
import type { ActivityDeps } from '../deps.ts';

/** The invoices whose answers are counted: those of a batch, or of a range of its ordinals. */
export interface CountedInvoices {
  readonly batchId: string;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** What was said before the round began; left out: nothing. */
  readonly before?: AnswerCounts | undefined;
}

/** What the service has said of them; what the retry policy of the service profile sends again is counted apart. */
export async function countAnswers(
  { ledger, settings }: Pick<ActivityDeps, 'ledger' | 'settings'>,
  { batchId, from, to, before }: CountedInvoices,
): Promise<AnswerCounts> {
  const { failedReasonCodes: retryableCodes, maxGenerations } = settings.retry;
  return answersSince(await ledger.countAnswers(batchId, { retryableCodes, maxGenerations, from, to }), before);
}
