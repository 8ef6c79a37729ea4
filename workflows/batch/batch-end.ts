import { isProblem, OUTCOMES } from '../../src/domain/invoice-state.ts';
import type { BatchEnd } from './batch-view.ts';
import type { OperatorLinks, BatchResult } from '../../src/contract/messages.ts';

/** How a batch ended, as its report says it. */
export function endOf(
  { batchId, state, counts }: Pick<BatchResult, 'batchId' | 'state' | 'counts'>,
  links: OperatorLinks,
): BatchEnd {
  const problems = OUTCOMES.filter((outcome) => isProblem(outcome)).reduce(
    (sum, outcome) => sum + (counts[outcome] ?? 0),
    counts.rowsLost ?? 0,
  );
  return { batchId, links, state, problems: state === 'refused' ? Math.max(problems, 1) : problems };
}
