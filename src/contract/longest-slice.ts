/**
 * A slice of invoices starts no POST after this many milliseconds: its activity must end, and the ledger be written, long
 * before its time-out. Whoever lets a slice go counts on POSTs for so long.
 */
export const LONGEST_SLICE_MS = 60_000;
