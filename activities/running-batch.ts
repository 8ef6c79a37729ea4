import type { BatchRecord } from '../src/domain/ports/ledger.ts';
import type { BatchDesk, BatchSettings, Standing } from '../workflows/messages.ts';
import type { ActivityDeps } from './deps.ts';
import { standingOf } from './look-at-batch.ts';

export interface PageSpan {
  readonly page: number;
  readonly firstOrdinal: number;
  readonly lastOrdinal: number;
}

export interface RunningBatch {
  readonly kind: 'running';
  readonly ledgerId: string;
  readonly batchId: string;
  readonly invoices: number;
  readonly pages: readonly PageSpan[];
  readonly settings: BatchSettings;
  readonly desk: BatchDesk;
  /** How it stands before anything is sent. */
  readonly standing: Standing;
  /** Invoices that an earlier run left `unsettled`, to be asked for; left out: none. */
  readonly unsettled?: number;
}

/** What a run needs to know of its batch: the pages with something to do, and how patient to be. */
export async function runningBatch(deps: ActivityDeps, batch: BatchRecord): Promise<RunningBatch> {
  const open = await deps.ledger.openPages(batch.batchId);
  const { sliceSize, settleMs, sendMs, patienceMs } = deps.settings;
  const standing = await standingOf(deps, batch.batchId);
  const { unsettled = 0 } = standing.counts;
  return {
    kind: 'running',
    ledgerId: deps.ledger.id,
    batchId: batch.batchId,
    invoices: batch.invoices,
    pages: open.map((page) => ({
      page,
      firstOrdinal: (page - 1) * batch.pageSize + 1,
      lastOrdinal: Math.min(page * batch.pageSize, batch.invoices),
    })),
    settings: { sliceSize, settleMs, sendMs, patienceMs },
    desk: deps.desk(),
    standing,
    ...(unsettled === 0 ? {} : { unsettled }),
  };
}
