import { expect } from 'vitest';
import type { TestStack } from '../lote/stack.ts';

/** What each state of a report promises of the service's own books; the key tells which entry is meant. */
const PROMISES: Readonly<Record<string, readonly string[]>> = {
  issued: ['issued'],
  'already-issued': ['issued'],
  failed: ['failed'],
  rejected: ['none'],
  held: ['none'],
  staged: ['none'],
  sending: ['none', 'processing', 'issued', 'failed'],
  unknown: ['none', 'processing', 'issued', 'failed'],
  accepted: ['processing', 'issued', 'failed'],
  unsettled: ['processing', 'issued', 'failed'],
};

/**
 * The judge: nothing twice in the service's books; nothing in them that the ledger does not know; and no state of the ledger that they
 * contradict.
 */
export async function expectAgreement(stack: TestStack, ...batchIds: readonly string[]): Promise<void> {
  const books = stack.sandbox.books();
  expect(books.duplicates, 'invoices that the books show twice').toEqual([]);
  const byKey = new Map(books.invoices.map((invoice) => [invoice.idempotencyKey, invoice]));
  const known = new Set<string | null>();
  const contradictions: string[] = [];
  for (const batchId of batchIds) {
    for (const line of await stack.lines(batchId)) {
      known.add(line.idempotencyKey);
      const allowed = PROMISES[line.state];
      if (allowed === undefined) continue;
      const booked = byKey.get(line.idempotencyKey);
      const found = booked?.status ?? 'none';
      if (!allowed.includes(found)) contradictions.push(`${line.ref}: ledger ${line.state}, books ${found}`);
      if (booked !== undefined && line.serviceId !== null && line.serviceId !== booked.id)
        contradictions.push(`${line.ref}: ledger ${line.serviceId}, books ${booked.id}`);
    }
  }
  expect(contradictions, 'what ledger and books say of one invoice').toEqual([]);
  const strangers = books.invoices.filter(({ idempotencyKey }) => !known.has(idempotencyKey));
  expect(strangers, 'invoices of the books that the ledger does not know').toEqual([]);
}
