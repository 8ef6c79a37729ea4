import { LoteError } from '../src/domain/errors.ts';
import type { FencingToken } from '../src/domain/records/batch-record.ts';
import type { ActivityDeps } from './deps.ts';

/** The ledger and batch of an activity's work. */
export interface OwnedWork {
  readonly ledgerId?: string | undefined;
  readonly batchId?: string | undefined;
}

/** The batch of this ledger that an activity works on. */
export interface BatchWork {
  readonly ledgerId: string;
  readonly batchId: string;
  /** Proves the round of the work. Optional: the default is no proof. */
  readonly fencingToken?: FencingToken;
}

/** One page of a batch. */
export interface PageWork extends BatchWork {
  readonly page: number;
}

/**
 * Refuses work of another ledger, application or account: otherwise a worker that polls the right queue with wrong settings would
 * issue every invoice again. Checks the account each time, because a command may change it while this worker runs.
 * @throws LoteError `ledger-foreign`, `application-foreign`, `interlock`
 */
export async function assertOwnership(
  { application, ledger, requireAccount }: Pick<ActivityDeps, 'application' | 'ledger' | 'requireAccount'>,
  { ledgerId = ledger.id, batchId }: OwnedWork,
): Promise<void> {
  if (ledgerId !== ledger.id)
    throw new LoteError(
      'ledger-foreign',
      `This work belongs to ledger ${ledgerId}, and this worker keeps ledger ${ledger.id}. Stop the worker, or give it a task queue of its own (LOTE_TASK_QUEUE).`,
    );
  const batch = batchId === undefined ? null : await ledger.findBatch(batchId);
  if (batch !== null && batch.application !== application)
    throw new LoteError(
      'application-foreign',
      `Batch ${batchId} belongs to application "${batch.application}", and this worker issues for "${application}", into another account. It waits for a worker with LOTE_APPLICATION=${batch.application}.`,
    );
  await requireAccount();
}
