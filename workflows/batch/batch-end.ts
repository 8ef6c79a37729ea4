import { isProblem, OUTCOMES } from '../../src/domain/invoice-state.ts';
import type { BatchEnd } from './batch-view.ts';
import type { OperatorLinks, BatchResult } from '../../src/contract/messages.ts';

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
