import { LoteError } from '../domain/errors.ts';
import { sumDecimals } from '../domain/money.ts';
import type { BatchInvoice, BatchRecord, OutcomeCount } from '../domain/records/batch-record.ts';

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
  expectEqual(batch, 'invoices over all states', invoicesOf(counted), batch.invoices);
  expectEqual(batch, 'invoices read', invoicesOf(read), batch.invoices);
  const rows = sheet.rowsRead + sheet.rowsWithoutInvoice;
  expectEqual(batch, 'rows (rows of invoices and rows without one)', rows, batch.rows);
  const keyOf = sheet.isMoving === true || MOVING.has(batch.state) ? currencyKey : outcomeKey;
  const [expected, found] = [merge(counted, keyOf), merge(read, keyOf)];
  for (const key of new Set([...expected.keys(), ...found.keys()])) {
    const what = `invoices, amount and unreadable amounts of ${key}`;
    expectEqual(batch, what, found.get(key) ?? 'none', expected.get(key) ?? 'none');
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

function invoicesOf(counts: readonly OutcomeCount[]): number {
  return counts.reduce((sum, { invoices }) => sum + invoices, 0);
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
  const withoutAmount = group.reduce((sum, count) => sum + count.withoutAmount, 0);
  return `${invoicesOf(group)} / ${net} / ${withoutAmount}`;
}

function expectEqual(batch: BatchRecord, what: string, found: number | string, expected: number | string): void {
  if (found === expected) return;
  throw new LoteError(
    'report-unbalanced',
    `Building the report of batch ${batch.batchId}: ${what} must be ${expected}, found ${found}. No report was written; run "lote report ${batch.batchId}" once more, and keep the data directory if it says so again.`,
  );
}

interface Cell extends Pick<OutcomeCount, 'outcome' | 'currency'> {
  invoices: number;
  net: string;
  withoutAmount: number;
  /** Amounts that `net` lacks so far. They are summed once per portion, because each exact addition makes a new number. */
  waiting: string[];
}

/** Creates an empty tally. Sums are exact decimals; `withoutAmount` counts invoices without a net amount. */
export function createOutcomeTally() {
  const cells = new Map<string, Cell>();

  return {
    add(portion: readonly BatchInvoice[]): void {
      for (const { state, currency, net } of portion) {
        const key = JSON.stringify([state, currency]);
        const fresh = { outcome: state, currency, invoices: 0, net: '0', withoutAmount: 0, waiting: [] };
        const cell: Cell = cells.get(key) ?? fresh;
        cells.set(key, cell);
        cell.invoices += 1;
        if (net === null) cell.withoutAmount += 1;
        else cell.waiting.push(net);
      }
      for (const cell of cells.values()) {
        cell.net = sumDecimals([cell.net, ...cell.waiting]);
        cell.waiting = [];
      }
    },
    counts: (): readonly OutcomeCount[] =>
      [...cells.values()].map((cell) => {
        const { waiting: _, ...count } = cell;
        return count;
      }),
  };
}
