import type { AnswerCounts } from './answer-counts.ts';

/** Below this many answers, or final words, a share says nothing. */
const FEWEST = 50;

type Shared = Pick<AnswerCounts, 'refused' | 'accepted' | 'issued' | 'failed'>;

/**
 * The share of a batch that goes wrong, 0 to 1: r + (1 - r) * f, where r is the refused share of the answers and f the failed share of the final words
 * (issued and failed). Each of the two counts from 50 on.
 */
export function failureShare({ refused, accepted, issued, failed }: Shared): number {
  const r = shareOf(refused, refused + accepted);
  return r + (1 - r) * shareOf(failed, issued + failed);
}

/** The largest share that so many refusals and failures can come to, whatever else the service has said. */
export function largestFailureShare({ refused, failed }: Pick<Shared, 'refused' | 'failed'>): number {
  const accepted = Math.max(0, FEWEST - refused);
  const issued = Math.max(0, FEWEST - failed);
  return failureShare({ refused, accepted, failed, issued });
}

function shareOf(part: number, all: number): number {
  return all < FEWEST ? 0 : part / all;
}
