import type { Context } from 'hono';
import type { FoundInvoice } from '../../domain/ports/invoice-search.ts';
import { noteAct, type People } from '../people/people.ts';

/**
 * Writes into the audit of each batch that its invoices are saved from a search. What was searched for is not written: it may name somebody.
 * @throws LoteError `ledger-unavailable`
 */
export async function noteFound(
  context: Context,
  people: People | undefined,
  { found }: { readonly found: readonly Pick<FoundInvoice, 'batchId'>[] },
  why: string,
): Promise<void> {
  const batches = new Set(found.map(({ batchId }) => batchId));
  await Promise.all([...batches].map(async (batchId) => noteAct(context, people, batchId, { what: 'download', why })));
}
