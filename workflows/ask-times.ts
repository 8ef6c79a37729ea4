/** No wait for a final word asks more often than this. */
const MOST_ASKS = 6;
const LONGEST_FIRST_ASK_MS = 30_000;

/**
 * When to GET an invoice that stays silent, in ms after its acceptance: first after min(30 s, settle / 4), then backing
 * off by two, the last one just before the settle time ends.
 */
export function askTimes(settleMs: number): readonly number[] {
  const first = Math.min(LONGEST_FIRST_ASK_MS, settleMs / 4);
  const last = Math.max(first, settleMs * 0.95);
  const times: number[] = [];
  for (let at = first; at < last && times.length < MOST_ASKS - 1; at *= 2) times.push(Math.round(at));
  times.push(Math.round(last));
  return times;
}
