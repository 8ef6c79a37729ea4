/** How much of a batch is being sent at once. */
export interface SendingWidth {
  /** Invoices of a slice. */
  readonly sliceSize: number;
  /** Pages; left out: as many as the workflow has places for. */
  readonly pagesSending?: number;
  /** Slices of one page; left out: as many as the workflow has lanes for. */
  readonly slicesAtOnce?: number;
}

/** Two slices share the rate: while one of them waits for its last answer, the other one sends. */
const SLICES = 2;
/** Of the time that a slice has, so that it ends by itself. */
const SPENT_SHARE = 0.9;
const SMALLEST_SLICE = 20;

/**
 * A slice has `sliceMs` and then puts back what it has not sent, which costs the ledger two statements and Temporal another activity. A service that takes
 * few requests a second (`null`: no limit) therefore gets two slices of so many invoices as both can send in their time.
 */
export function sendingWidth(
  requestsPerSecond: number | null,
  { sliceSize, sliceMs }: { readonly sliceSize: number; readonly sliceMs: number },
): SendingWidth {
  if (requestsPerSecond === null) return { sliceSize };
  const sentInTime = Math.floor((requestsPerSecond * sliceMs * SPENT_SHARE) / 1_000 / SLICES);
  if (sentInTime >= sliceSize) return { sliceSize };
  return {
    sliceSize: Math.min(sliceSize, Math.max(SMALLEST_SLICE, sentInTime)),
    pagesSending: SLICES,
    slicesAtOnce: 1,
  };
}
