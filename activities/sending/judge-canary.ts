import type { AnswerCounts } from '../../src/domain/answer-counts.ts';
import { commandLine, type CommandReader } from '../../src/domain/text/command-line.ts';
import { judgeFirstInvoices } from '../../src/domain/first-invoices.ts';
import { countAnswers } from './count-answers.ts';
import type { ActivityDeps } from '../deps.ts';
import { confirmReported, type FirstInvoices } from './first-invoices.ts';

export interface CanaryInput {
  readonly ledgerId: string;
  readonly batchId: string;
  readonly fencingToken?: number | undefined;
  /** Left out by runs of an earlier version: all invoices of the batch are judged. */
  readonly first?: FirstInvoices | undefined;
}

/**
 * Every one of the first invoices was refused, or failed later, and none was issued: something is wrong with the file as a whole, and the rest is held
 * before it goes the same way. A share of refusals and failures is the failure budget's to judge. True when it held.
 */
export async function judgeCanary(deps: ActivityDeps, input: CanaryInput): Promise<boolean> {
  const { ledgerId, batchId, fencingToken, first } = input;
  if (first !== undefined) await confirmReported(deps, { ledgerId, batchId, ...first });
  const counts = await countAnswers(deps, { batchId, from: first?.from, to: first?.to });
  const verdict = judgeFirstInvoices(counts, deps.settings.failureBudget);
  if (verdict === 'go-on') return false;
  const { refused, failed } = counts;
  const reason =
    verdict === 'refused'
      ? {
          code: 'first-invoices-refused',
          message: `The service refused all of the first ${refused} invoices. The rest was not sent: look at the refusals, then ${nextOf(deps)}`,
        }
      : {
          code: 'first-invoices-failed',
          message: `${failedSentence(counts)} The rest was not sent: look at the failures, then ${nextOf(deps)}`,
        };
  const held = await deps.ledger.holdUnsent(batchId, { reason, now: deps.now(), fencingToken });
  deps.log.warn(`the first invoices of a batch were all ${verdict}`, {
    batchId,
    refused,
    ...(failed > 0 ? { failed } : {}),
    held,
  });
  return held > 0;
}

function nextOf(reader: CommandReader): string {
  return `drop the file again, or use ${commandLine(reader, 'retry BATCH --state held')}.`;
}

function failedSentence({ refused, failed, accepted }: AnswerCounts): string {
  if (refused === 0)
    return `The service accepted the first ${accepted} invoices and failed ${failed} of them; none was issued.`;
  return `The service refused ${refused} of the first ${refused + accepted} invoices and failed ${failed} of those it accepted; none was issued.`;
}
