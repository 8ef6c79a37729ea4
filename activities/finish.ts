import type { ActivityDeps } from './deps.ts';

export interface FinishInput {
  readonly ledgerId: string;
  readonly batchId: string;
  readonly cancelled: boolean;
}

/** What no page has sent by now stays unsent: it is held, and the next run of the same file takes it up. */
export async function finishBatch(deps: ActivityDeps, { batchId, cancelled }: FinishInput): Promise<void> {
  const now = deps.now();
  const reason = cancelled
    ? {
        code: 'batch-cancelled',
        message: 'An operator cancelled what was not sent yet. Drop the file again to send it.',
      }
    : { code: 'not-sent', message: 'The batch ended before this invoice was sent. Drop the file again to send it.' };
  await deps.ledger.holdUnsent(batchId, { reason, now });
  await deps.ledger.setBatchState(batchId, cancelled ? 'cancelled' : 'finished', now);
}
