import type { Reason } from '../../src/domain/invoice.ts';
import type { BatchRecord } from '../../src/domain/ports/ledger/batch-record.ts';
import { OLDER_LEDGER } from '../../src/domain/retry-decision.ts';
import type { ActivityDeps } from '../deps.ts';

const NOT_SENT_BEFORE: Reason = {
  code: OLDER_LEDGER,
  message:
    'The earlier report of this file says that this invoice was not sent, and the ledger does not know that report: it was restored from an older copy, or is another one. The invoice may have been corrected since, or kept back on purpose: look into that report (folder before-restore-…). If it must go, retry it with the accepted risk of a duplicate.',
};

/**
 * In a restored ledger a file may be run again, or its batch closed by reconciliation, whose earlier run was cancelled, or stopped by Lote, and then corrected:
 * what was not sent then has a key that the service has never seen. It is held, and nothing of it goes by itself.
 */
export async function holdUnsentBefore(
  { ledger, reports, now }: Pick<ActivityDeps, 'ledger' | 'reports' | 'now'>,
  batch: BatchRecord,
): Promise<void> {
  const firstRows = await reports.rowsNotSent(batch);
  if (firstRows.length > 0) await ledger.holdDoubtful(batch, { firstRows, reason: NOT_SENT_BEFORE, now: now() });
}
