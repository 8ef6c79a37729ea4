import { ActivityFailure, ApplicationFailure, isCancellation, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.ts';
import type { ReportSummary } from '../../activities/deps.ts';
import * as options from '../activity-options.ts';
import type { BatchControl } from './batch-control.ts';
import { isProblem, OUTCOMES } from '../../src/domain/invoice-state.ts';
import type { BatchEnd } from './batch-details.ts';
import type { OperatorLinks, BatchResult } from '../../src/domain/messages/messages.ts';

const { writeReport } = proxyActivities<Activities>({ ...options.REPORT, summary: 'the report' });

/** A batch that has ended. */
interface EndedBatch {
  readonly ledgerId: string;
  readonly batchId: string;
  /** An earlier run ended it: its report is reused if it is still true. */
  readonly standing: boolean;
  readonly desk: Parameters<typeof endOf>[1];
  /** As in `BatchResult`, by what this run declared; left out: the report says it. */
  readonly totalsDiffer?: string;
}

/** Writes the report of a batch, which is the end of its run. @throws ApplicationFailure of the cause's type that says what becomes of the batch */
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

/** Does one of the last steps of a batch. A run that fails at it says that no invoice depends on it, and who makes up for it. */
export async function orUnreported<T>(batch: BatchControl, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
    batch.unreported();
    throw unreported(error);
  }
}

function unreported({ cause }: ActivityFailure): ApplicationFailure {
  const failed = cause instanceof ApplicationFailure ? cause : null;
  return ApplicationFailure.create({
    type: failed?.type ?? 'internal',
    nonRetryable: true,
    message: `${(failed?.message ?? 'The last step of the batch was stopped from outside').replace(/\.?$/u, '.')} The batch has no report of this end yet; the ledger has every invoice. The next reconciliation closes the batch if it is open, and writes its report.`,
  });
}

/** How a batch ended, as its report says it. */
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
  return {
    ...{ batchId, links, state, problems },
    ...(contradicted > 0 && { contradicted }),
    ...(totalsDiffer !== undefined && notOut === 0 && { totalsDiffer: true }),
  };
}
