/** How long and how often a delivery is tried again. Delays are milliseconds; they double up to the longest. */
export interface RetryPlan {
  readonly firstDelayMs: number;
  readonly longestDelayMs: number;
  readonly maxAttempts: number;
}

/** About an hour of trying: a receiver that is restarted, or down for a deployment, misses nothing. */
export const DEFAULT_RETRY_PLAN: RetryPlan = { firstDelayMs: 1000, longestDelayMs: 600_000, maxAttempts: 16 };

/** Wait before the next try after `attempts` tries: doubled each time, the upper half of it drawn by chance. */
export function backoffMs(attempts: number, plan: RetryPlan, random: () => number): number {
  const full = Math.min(plan.longestDelayMs, plan.firstDelayMs * 2 ** Math.max(0, attempts - 1));
  // Half fixed, half drawn: tries stay apart from each other, and receivers are not hit by all of them at once.
  return Math.round(full / 2 + (full / 2) * random());
}
