import { LoteError } from '../src/domain/errors.ts';
import type { ActivityDeps } from './deps.ts';

/** What an activity is asked to work on. */
export interface OwnedWork {
  readonly ledgerId?: string | undefined;
  readonly batchId?: string | undefined;
  /** Of several applications, the one that the workflow was started for. */
  readonly application?: string | undefined;
}

type Owner = Pick<ActivityDeps, 'application' | 'isOneOfSeveral' | 'ledger'>;

/**
 * A worker that polls the right queue for the wrong ledger, application or account would issue every invoice again: it must refuse the work. The
 * account is looked at each time, for it may have been changed by command while this worker runs.
 * @throws LoteError `ledger-foreign`, `application-foreign`, `application-mismatch`, `interlock`
 */
export async function assertOwnership(
  deps: Owner & Pick<ActivityDeps, 'requireAccount'>,
  asked: OwnedWork,
): Promise<void> {
  requireLedger(deps.ledger.id, asked.ledgerId);
  requireNamed(deps, asked);
  if (asked.batchId !== undefined) await requireApplication(deps, asked.batchId);
  await deps.requireAccount();
}

function requireLedger(own: string, asked: string | undefined): void {
  if (asked === undefined || asked === own) return;
  throw new LoteError(
    'ledger-foreign',
    `This work belongs to ledger ${asked}, and this worker keeps ledger ${own}. Stop the worker, or give it a task queue of its own (LOTE_TASK_QUEUE).`,
  );
}

function requireNamed({ application }: Owner, asked: OwnedWork): void {
  if (asked.application === undefined || asked.application === application) return;
  throw new LoteError(
    'application-mismatch',
    `This work was ordered for application "${asked.application}", and came to "${application}", which has another account. Nothing was sent. Start it again for the application that is meant.`,
  );
}

async function requireApplication({ application, isOneOfSeveral, ledger }: Owner, batchId: string): Promise<void> {
  const batch = await ledger.findBatch(batchId);
  if (batch === null || batch.application === application) return;
  // Here the application's own worker is beside this one: to wait for it would be to wait for ever.
  if (isOneOfSeveral)
    throw new LoteError(
      'application-mismatch',
      `Batch ${batchId} belongs to application "${batch.application}", and the work was ordered for "${application}", which has another account. Nothing was sent. Start it again for "${batch.application}".`,
    );
  throw new LoteError(
    'application-foreign',
    `Batch ${batchId} belongs to application "${batch.application}", and this worker issues for "${application}", into another account. It waits for a worker with LOTE_APPLICATION=${batch.application}.`,
  );
}
