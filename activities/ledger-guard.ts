import { LoteError } from '../src/domain/errors.ts';

/** A worker that polls the right queue with the wrong ledger would issue every invoice again: it must refuse the work. */
export function requireLedger(own: string, asked: string | undefined): void {
  if (asked === undefined || asked === own) return;
  throw new LoteError(
    'ledger-foreign',
    `This work belongs to ledger ${asked}, and this worker keeps ledger ${own}. Stop the worker, or give it a task queue of its own (LOTE_TASK_QUEUE).`,
  );
}
