import { z } from 'zod';
import { batchOutcomes, type FileShortfall, withShortfalls } from '../domain/batch-outcomes.ts';
import { LoteError } from '../domain/errors.ts';
import type { Outcome } from '../domain/invoice-state.ts';
import { countsByOutcome } from '../domain/outcome-counts.ts';
import type { ProfileMisfit } from '../domain/profile-misfit.ts';
import { ownZone } from '../domain/time/zone-offsets.ts';
import { answerSearch, readSearchQuery, type SearchAnswer, type SearchWish, unreadableSearch } from './search-query.ts';
import type { BatchRecord } from '../domain/records/batch-record.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Purged } from '../ledger/operations/purge.ts';
import type { SavedTotalCheck } from '../domain/records/total-check.ts';

/** A mistyped unit (400m for 400d) must not empty the ledger. */
export const SHORTEST_PURGE_AGE_MS = 24 * 60 * 60 * 1000;

/** A batch as a command or another process reads it, without the fencing token, which only the ledger uses. */
export interface ReadBatch extends Omit<BatchRecord, 'fencingToken'>, FileShortfall {
  readonly counts: Partial<Record<Outcome, number>>;
  readonly total: SavedTotalCheck | null;
}

/** A run that another process hands over to the owner of the data directory. */
export const RunRequest = z.object({
  /** Absolute paths. */
  files: z.array(z.string().min(1)).min(1),
  /** Options of the command: words, numbers, switches, and amounts by currency; the workflow checks their meaning. */
  options: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.record(z.string(), z.string())]))
    .default({}),
});
export type RunRequest = Readonly<z.infer<typeof RunRequest>>;

/** The batches that a run started or joined, one for each file, in their order. */
export interface RunAnswer {
  readonly batches: readonly { readonly batchId: string; readonly workflowId: string; readonly file: string }[];
}

/** The request of `lote purge`. */
export const PurgeRequest = z.object({ olderThanMs: z.int().min(SHORTEST_PURGE_AGE_MS), dryRun: z.boolean() });
export type PurgeRequest = Readonly<z.infer<typeof PurgeRequest>>;

/** Invoices of a batch by their references. */
export const RowsRequest = z.object({ batchId: z.string().min(1), refs: z.array(z.string()).min(1) });
export type RowsRequest = Readonly<z.infer<typeof RowsRequest>>;

/** Requests of a command to a ledger: its own, or that of the data directory's owner, whose JSON API has an address for each request. */
export interface Operations {
  /** Newest first. */
  batches(limit: number): Promise<readonly ReadBatch[]>;
  /** Resolves to null if the ledger does not know the batch. */
  batch(batchId: string): Promise<ReadBatch | null>;
  search(wish: SearchWish): Promise<SearchAnswer>;
  misfits(): Promise<readonly ProfileMisfit[]>;
  rowsOfRefs(request: RowsRequest): Promise<readonly { readonly ref: string; readonly rows: readonly number[] }[]>;
  purge(request: PurgeRequest): Promise<Purged>;
}

/** Creates the operations over the ledger of this process. */
export function ledgerOperations(ledger: Ledger, others: Pick<Operations, 'misfits' | 'purge'>): Operations {
  return {
    batches: async (limit) => readBatches(ledger, await ledger.listBatches(limit)),
    batch: (batchId) => readBatch(ledger, batchId),
    async search(wish) {
      const query = readSearchQuery((name) => wish[name], ownZone());
      const result = await answerSearch(ledger, query);
      if (result === null) throw new LoteError('usage', unreadableSearch(query));
      return result;
    },
    rowsOfRefs: ({ batchId, refs }) => ledger.rowsOfRefs(batchId, refs),
    ...others,
  };
}

type BatchReader = Pick<
  Ledger,
  'findBatch' | 'decidingFindings' | 'contradictedInvoices' | 'reportedOutcomes' | 'countOutcomes' | 'totalCheck'
>;

/** Returns a batch as `readBatches` does, or null if the ledger does not know it. */
export async function readBatch(ledger: BatchReader, batchId: string): Promise<ReadBatch | null> {
  const batch = await ledger.findBatch(batchId);
  return batch === null ? null : ((await readBatches(ledger, [batch]))[0] ?? null);
}

/** Returns each batch with its counts, its total and the possible problems of its file, in the given order. */
export async function readBatches(ledger: BatchReader, batches: readonly BatchRecord[]): Promise<readonly ReadBatch[]> {
  const read: ReadBatch[] = [];
  for (const { batch, shortfall } of await withShortfalls(ledger, batches)) {
    const { fencingToken: _, ...shown } = batch;
    const counts = countsByOutcome(await batchOutcomes(ledger, batch.batchId));
    read.push({ ...shown, ...shortfall, counts, total: await ledger.totalCheck(batch.batchId) });
  }
  return read;
}
