import { LoteError } from '../domain/errors.ts';
import { sumDecimals } from '../domain/money.ts';
import type { BatchRecord, OutcomeCount } from '../domain/records/batch-record.ts';

/** Both sides of the balance: the ledger's counts, and the sums over every invoice that was read. */
export interface BalanceSheet {
  readonly batch: BatchRecord;
  readonly counted: readonly OutcomeCount[];
  readonly read: readonly OutcomeCount[];
  readonly rowsRead: number;
  readonly rowsWithoutInvoice: number;
  /** Set if invoices moved while they were read. Without it, only invoices of a running batch may have moved. */
  readonly isMoving?: boolean;
}

/** States of a batch in which invoices move while the report is read, so that only the constant sums are compared. */
const MOVING = new Set<BatchRecord['state']>(['running', 'paused']);

/** @throws LoteError `report-unbalanced` if the two sides differ: the message names the sum, never an invoice. */
export function checkBalance(sheet: BalanceSheet): void {
  const { batch, counted, read } = sheet;
  const invoicesRead = sumOf(read, ({ invoices }) => invoices);
  expectEqual(
    batch,
    'invoices over all states',
    sumOf(counted, ({ invoices }) => invoices),
    batch.invoices,
  );
  expectEqual(batch, 'invoices read', invoicesRead, batch.invoices);
  expectEqual(
    batch,
    'rows (rows of invoices and rows without one)',
    sheet.rowsRead + sheet.rowsWithoutInvoice,
    batch.rows,
  );
  const keyOf = sheet.isMoving === true || MOVING.has(batch.state) ? currencyKey : outcomeKey;
  const expected = merge(counted, keyOf);
  const found = merge(read, keyOf);
  for (const key of new Set([...expected.keys(), ...found.keys()])) {
    expectEqual(
      batch,
      `invoices, amount and unreadable amounts of ${key}`,
      found.get(key) ?? 'none',
      expected.get(key) ?? 'none',
    );
  }
}

/** True if both lists have the same counts for every outcome and currency. */
export function sameCounts(some: readonly OutcomeCount[], others: readonly OutcomeCount[]): boolean {
  const [a, b] = [merge(some, outcomeKey), merge(others, outcomeKey)];
  return a.size === b.size && [...a].every(([key, sums]) => b.get(key) === sums);
}

function currencyKey({ currency }: OutcomeCount): string {
  return currency ?? 'no currency';
}

function outcomeKey(count: OutcomeCount): string {
  return `${count.outcome}, ${currencyKey(count)}`;
}

function sumOf(counts: readonly OutcomeCount[], valueOf: (count: OutcomeCount) => number): number {
  return counts.reduce((sum, count) => sum + valueOf(count), 0);
}

function merge(counts: readonly OutcomeCount[], keyOf: (count: OutcomeCount) => string): Map<string, string> {
  const groups = new Map<string, OutcomeCount[]>();
  for (const count of counts) {
    if (count.invoices === 0) continue;
    const key = keyOf(count);
    groups.set(key, [...(groups.get(key) ?? []), count]);
  }
  return new Map([...groups].map(([key, group]) => [key, describe(group)]));
}

function describe(group: readonly OutcomeCount[]): string {
  const net = sumDecimals(group.map((count) => count.net));
  return `${sumOf(group, ({ invoices }) => invoices)} / ${net} / ${sumOf(group, ({ withoutAmount }) => withoutAmount)}`;
}

function expectEqual(batch: BatchRecord, what: string, found: number | string, expected: number | string): void {
  if (found === expected) return;
  throw new LoteError(
    'report-unbalanced',
    `Building the report of batch ${batch.batchId}: ${what} must be ${expected}, found ${found}. No report was written; run "lote report ${batch.batchId}" once more, and keep the data directory if it says so again.`,
  );
}
